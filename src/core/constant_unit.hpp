// The constant path: loads from constant banks, the two levels of cache in the SM, and their way to the L2.
#pragma once

#include <cstdint>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/constant_tags.hpp"
#include "core/instruction_profile.hpp"
#include "core/lsu_port.hpp"
#include "core/lsu_results.hpp"
#include "stats/counters.hpp"

namespace lockstep::core {

/// Serves a load's distinct addresses one after the other (CUDA C++ Programming Guide, constant memory: as
/// many requests as there are different addresses), mio.const_pass_interval cycles apart. A pass looks up a
/// line of the L1, and of the L1.5 where that misses; what is not there either comes from the L2. A launch
/// brings the constants, as far as there is room: what fills a free way is there, unless mio.const_cold_miss.
///
/// Loads without addresses, as traces of machine code have them, are one pass that hits; with
/// mio.const_cold_miss the first one after a kernel's first CTA has come fetches a line of 64 bytes, for
/// which all wait.
class ConstantUnit {
 public:
  ConstantUnit(const config::MioGroup& config, const LsuLatencies& latencies, LsuPort& port,
               LsuResults& results, std::vector<stats::SmCounters>& counters);

  /// Lines wait for room in the port: no further load is taken.
  [[nodiscard]] bool sending() const { return unsent_ > 0; }
  /// Returns the cycle from which the unit takes the next one. Precondition: not sending.
  Cycle load(Cycle now, const MioOperation& op);
  /// Sends a request, if one is due. Precondition: sending.
  void tick(Cycle now);
  /// Cycle > now at which tick() sends something; kNever while the port is full. Precondition:
  /// sending.
  [[nodiscard]] Cycle next_event(Cycle now) const;
  void receive(Cycle now, const icnt::Reply& reply);
  /// A launch's first CTA has come: its constants are brought anew.
  void invalidate();
  [[nodiscard]] bool idle() const { return fills_.empty(); }
  void profile(InstructionProfile* to) { profile_ = to; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(port_), a.given(results_), a.given(counters_), a.given(profile_), a.given(rest_),
              a.given(interval_), a.given(pass_interval_), a.given(l15_extra_), a.given(cold_miss_), cold_,
              l1_, l15_, fills_, waiting_, number_, unsent_);
  }

 private:
  static constexpr unsigned kParts = 2;  // lines of the L2 in one of the L1.5
  /// A line that comes from the L2; those under way in the order in which they were asked for.
  struct Fill {
    Address line = 0;
    Cycle from = 0;  // its requests leave
    std::uint64_t number = 0;
    SectorMask missing[kParts] = {};
    std::uint8_t unsent = 0;  // bit for each part
    std::uint8_t kernel = 0;
    bool of_launch = false;
    template <class A>
    void persist(A& a) {
      a.members(*this, line, from, number, missing[0], missing[1], unsent, kernel, of_launch);
    }
  };
  /// A load whose last fill is `number`.
  struct Waiting {
    std::uint64_t number = 0;  // 0: none
    Cycle ready = 0;
    std::uint32_t handle = 0;
    template <class A>
    void persist(A& a) {
      a.members(*this, number, ready, handle);
    }
  };

  void without_addresses(Cycle now, const MioOperation& op);
  unsigned serve_all(Cycle now, const MioOperation& op, Waiting& load);
  void serve(Cycle at, Address address, std::uint8_t kernel, Waiting& load);
  void await(Address address, Waiting& load) const;
  void fill(const Fill& fill, Waiting& load);

  LsuPort* port_;
  LsuResults* results_;
  std::vector<stats::SmCounters>* counters_;
  InstructionProfile* profile_ = nullptr;
  Cycle rest_, interval_, pass_interval_;
  Cycle l15_extra_;  // what a hit in the L1.5 takes longer than one in the L1
  bool cold_miss_;
  bool cold_ = true;
  ConstantTags l1_, l15_;
  std::vector<Fill> fills_;
  std::vector<Waiting> waiting_;
  std::uint64_t number_ = 0;
  unsigned unsent_ = 0;  // requests
};

}  // namespace lockstep::core
