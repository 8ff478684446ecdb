// What instructions of a service thread cost.
#pragma once

#include "net/clock.hpp"

namespace lockstep::net {

/// The program's costs in cycles of the thread's domain: n instructions are n / milli_ipc * 1000 cycles of
/// the core's clock, and at least one cycle of the domain.
class InstructionCosts {
 public:
  InstructionCosts(const Clock& clock, std::uint64_t core_khz, std::uint64_t milli_ipc)
      : clock_(clock), khz_milli_(core_khz * milli_ipc) {}
  [[nodiscard]] Cycle cycles(std::uint64_t instructions) const {
    constexpr std::uint64_t kPsOfMilliKhz = 1'000'000'000'000;
    const auto ps = static_cast<sim::Wide>(instructions) * kPsOfMilliKhz / khz_milli_;
    return clock_.cycles(static_cast<std::uint64_t>(ps), 1);
  }

 private:
  Clock clock_;
  std::uint64_t khz_milli_;
};

}  // namespace lockstep::net
