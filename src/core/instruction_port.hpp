// The instruction side's way through the SM's port: lines that the L1I misses.
#pragma once

#include <cstdint>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/lsu_port.hpp"

namespace lockstep::core {

/// Shares the port into the crossbar with the load/store unit.
class InstructionPort {
 public:
  InstructionPort(const config::FrontEndGroup& config, LsuPort& port);

  [[nodiscard]] bool can_fetch() const { return !port_->full(); }
  /// Asks for all sectors of the line at `line`. Precondition: can_fetch().
  void fetch(Cycle now, Address line, std::uint8_t kernel);
  void receive(const icnt::Reply& reply);
  /// Lines that have arrived since they were cleared last.
  [[nodiscard]] const std::vector<Address>& lines() const { return lines_; }
  void clear_lines() { lines_.clear(); }
  [[nodiscard]] bool idle() const;

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(port_), a.given(sectors_), fetches_, lines_);
  }

 private:
  struct Fetch {
    Address line = 0;        // as asked for
    SectorMask missing = 0;  // 0: the entry is free
  };

  LsuPort* port_;
  SectorMask sectors_;  // of a line
  std::vector<Fetch> fetches_;
  std::vector<Address> lines_;
};

}  // namespace lockstep::core
