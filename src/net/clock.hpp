// Times of a domain's clock.
#pragma once

#include <cstdint>

#include "sim/clock.hpp"

namespace lockstep::net {

class Clock {
 public:
  explicit Clock(std::uint64_t khz) : khz_(khz), to_ps_(khz, 1'000'000'000) {}
  /// Rounded up; at least `least`.
  [[nodiscard]] Cycle cycles(std::uint64_t ps, Cycle least = 0) const {
    return std::max(sim::cycles_of_ps(ps, khz_), least);
  }
  [[nodiscard]] std::uint64_t ps(Cycle cycle) const { return to_ps_.floor(cycle); }

 private:
  std::uint64_t khz_;
  sim::ClockRatio to_ps_;
};

}  // namespace lockstep::net
