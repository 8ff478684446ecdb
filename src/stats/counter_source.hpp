// A piece of hardware that counts.
#pragma once

#include <cstdint>
#include <vector>

#include "stats/counters.hpp"
#include "stats/profile.hpp"
#include "uvm/counters.hpp"

namespace lockstep::stats {

class CounterSource {
 public:
  virtual ~CounterSource() = default;
  /// Adds the counters of kernel slot `kernel` to `total` and starts them again from zero. Only between
  /// windows, after settle().
  virtual void take_counters(std::uint8_t kernel, KernelCounters& total) = 0;
  /// Nothing queued, in flight or owed: no request without its reply, all credits at home.
  [[nodiscard]] virtual bool quiescent() const = 0;
  /// Adds what it has of the kernel's instructions, by index in its static table, and starts again from zero;
  /// those without `--profile` add nothing. Likewise, and only when the kernel or the run has ended.
  virtual void take_profile(std::uint8_t, KernelProfile&) {}
  /// Adds the counters of its TLB, so far; those that have none add nothing.
  virtual void add_translation(uvm::TlbCounters&) const {}
};

}  // namespace lockstep::stats
