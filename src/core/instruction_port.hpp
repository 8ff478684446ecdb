// The instruction side's way through the SM's port: lines that the L1I misses.
#pragma once

#include <cstdint>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/lsu_port.hpp"

namespace lockstep::core {

/// Shares the port into the crossbar with the load/store unit. A line of more than 128 bytes is several
/// requests, one a cycle; no other line is asked for in between.
class InstructionPort {
 public:
  InstructionPort(const config::FrontEndGroup& config, LsuPort& port);

  [[nodiscard]] bool can_fetch() const { return !port_->full() && !sending(); }
  /// Asks for all sectors of the line at `line`. Precondition: can_fetch().
  void fetch(Cycle now, Address line, std::uint8_t kernel);
  /// Parts of the last line are still to be asked for.
  [[nodiscard]] bool sending() const { return parts_left_ > 0; }
  /// Asks for the next one, if the port has room. Precondition: sending().
  void send(Cycle now) {
    if (!port_->full()) send_part(now);
  }
  void receive(const icnt::Reply& reply);
  /// Lines that have arrived since they were cleared last.
  [[nodiscard]] const std::vector<Address>& lines() const { return lines_; }
  void clear_lines() { lines_.clear(); }
  [[nodiscard]] bool idle() const;

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(port_), a.given(sectors_), a.given(parts_), sending_, parts_left_, fetches_,
              lines_);
  }

 private:
  struct Fetch {
    Address line = 0;           // as asked for
    std::uint32_t missing = 0;  // sectors, from that of `line` on; 0: the entry is free
    std::uint8_t kernel = 0;
  };
  void send_part(Cycle now);

  LsuPort* port_;
  std::uint32_t sectors_, parts_;  // of a line, of 128 bytes or less
  std::uint32_t sending_ = 0, parts_left_ = 0;
  std::vector<Fetch> fetches_;
  std::vector<Address> lines_;
};

}  // namespace lockstep::core
