// The constant path: loads from constant banks, and the line of a kernel's constants.
#pragma once

#include <cstdint>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/lsu_port.hpp"
#include "core/lsu_results.hpp"
#include "stats/counters.hpp"

namespace lockstep::core {

/// Constants carry no addresses in traces: loads hit, or with mio.const_cold_miss the first one after a
/// kernel's first CTA has come fetches a line of 64 bytes, for which all wait.
class ConstantUnit {
 public:
  ConstantUnit(const config::MioGroup& config, const LsuLatencies& latencies, LsuPort& port,
               LsuResults& results, std::vector<stats::SmCounters>& counters)
      : port_(&port),
        results_(&results),
        counters_(&counters),
        rest_(latencies.const_rest),
        cold_miss_(config.const_cold_miss) {
    waiting_.reserve(64);
  }

  /// The next load is going to ask for the line, so it needs room in the port.
  [[nodiscard]] bool needs_port() const { return cold_ && cold_miss_ && !filling_; }
  void load(Cycle now, const MioOperation& op);
  void receive(Cycle now, const icnt::Reply& reply);
  void invalidate() { cold_ = true; }
  [[nodiscard]] bool idle() const { return !filling_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(port_), a.given(results_), a.given(counters_), a.given(rest_),
              a.given(cold_miss_), cold_, filling_, missing_, waiting_);
  }

 private:
  LsuPort* port_;
  LsuResults* results_;
  std::vector<stats::SmCounters>* counters_;
  Cycle rest_;
  bool cold_miss_;
  bool cold_ = true, filling_ = false;
  SectorMask missing_ = 0;
  std::vector<std::uint32_t> waiting_;  // handles
};

}  // namespace lockstep::core
