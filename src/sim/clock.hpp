// Exact conversion between the edges of two clocks. Edge k of a clock with f kHz lies at time k/f; edge 0 of
// all clocks coincides. Frequencies need no common period: everything is integer arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>

#include "util/types.hpp"

namespace lockstep {

/// A point in time or a duration in edges of the engine's time base (sim::time_base_khz), which all devices
/// of a simulation share. With one device, or several of the same core clock, these are core cycles.
using Time = std::uint64_t;

/// kNever if either is.
[[nodiscard]] constexpr Time add_times(Time a, Time b) { return a == kNever || b == kNever ? kNever : a + b; }

}  // namespace lockstep

namespace lockstep::sim {

__extension__ using Wide = unsigned __int128;

class ClockRatio {
 public:
  ClockRatio() = default;
  ClockRatio(std::uint64_t from_khz, std::uint64_t to_khz) {
    const std::uint64_t g = std::gcd(from_khz, to_khz);
    num_ = to_khz / g;
    den_ = from_khz / g;
  }
  /// First edge of the target clock at or after edge k of the source clock.
  [[nodiscard]] Cycle ceil(Cycle k) const {
    if (num_ == den_ || k == kNever) return k;
    return divide(static_cast<Wide>(k) * num_ + (den_ - 1));
  }
  /// Last edge of the target clock at or before edge k of the source clock.
  [[nodiscard]] Cycle floor(Cycle k) const {
    if (num_ == den_ || k == kNever) return k;
    return divide(static_cast<Wide>(k) * num_);
  }
  /// Both, at the price of one: a division takes the host long.
  struct Edges {
    Cycle floor, ceil;
  };
  [[nodiscard]] Edges around(Cycle k) const {
    const Cycle before = floor(k);
    const bool exact =
        num_ == den_ || k == kNever || static_cast<Wide>(before) * den_ == static_cast<Wide>(k) * num_;
    return {before, exact ? before : before + 1};
  }
  [[nodiscard]] bool identity() const { return num_ == den_; }

 private:
  /// By den_. As a rule 64 bits do, for which the host has an instruction.
  [[nodiscard]] Cycle divide(Wide x) const {
    const auto low = static_cast<std::uint64_t>(x);
    return static_cast<Cycle>(x >> 64 == 0 ? low / den_ : x / den_);
  }

  std::uint64_t num_ = 1, den_ = 1;
};

/// Picoseconds as cycles of a clock, rounded up.
[[nodiscard]] constexpr Cycle cycles_of_ps(std::uint64_t ps, std::uint64_t khz) {
  return static_cast<Cycle>((static_cast<Wide>(ps) * khz + 999'999'999) / 1'000'000'000);
}

/// The time base for components with these clocks, in kHz; a Time counts its edges. It is the least common
/// multiple of the clocks, so that each of their edges has a time of its own exactly, as long as that is at
/// most 1 THz. Beyond that it is 1 THz: edges of one clock still have different times, and 64 bits still last
/// for half a year.
[[nodiscard]] constexpr std::uint64_t time_base_khz(std::span<const std::uint64_t> clocks_khz) {
  constexpr std::uint64_t kFinest = 1'000'000'000;
  std::uint64_t base = 1;
  for (const std::uint64_t khz : clocks_khz) {
    const Wide multiple = static_cast<Wide>(base / std::gcd(base, khz)) * khz;
    if (multiple > kFinest) return std::max(kFinest, *std::max_element(clocks_khz.begin(), clocks_khz.end()));
    base = static_cast<std::uint64_t>(multiple);
  }
  return base;
}

/// Conversion between the engine's time base and a domain's clock; by default they are the same.
struct DomainClock {
  ClockRatio to_cycles{}, to_time{};
  DomainClock() = default;
  DomainClock(std::uint64_t base_khz, std::uint64_t domain_khz)
      : to_cycles(base_khz, domain_khz), to_time(domain_khz, base_khz) {}
};

}  // namespace lockstep::sim
