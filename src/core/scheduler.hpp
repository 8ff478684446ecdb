// Issue policies: which of the warps that could issue goes first.
//
// A policy is a function from the candidates to one of them, with one line in pick(). Warps are numbered
// within their sub-core; `age` counts launches, so a smaller age is an older warp.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "config/gpu_config.hpp"

namespace lockstep::core {

inline constexpr unsigned kWarpsPerSubcore = 16;
using WarpSet16 = std::uint16_t;

struct SchedulerView {
  unsigned last = 0;  // warp that issued last
  const std::array<std::uint32_t, kWarpsPerSubcore>* age = nullptr;
};

namespace policy {

inline bool contains(WarpSet16 set, unsigned warp) { return set >> warp & 1; }

template <class Better>
unsigned best(WarpSet16 candidates, const SchedulerView& view, Better better) {
  auto chosen = static_cast<unsigned>(std::countr_zero(candidates));
  for (unsigned rest = candidates & (candidates - 1u); rest; rest &= rest - 1u) {
    const auto w = static_cast<unsigned>(std::countr_zero(rest));
    if (better((*view.age)[w], (*view.age)[chosen])) chosen = w;
  }
  return chosen;
}

/// Greedy then oldest (Rogers et al., MICRO 2012).
inline unsigned gto(WarpSet16 candidates, const SchedulerView& view) {
  if (contains(candidates, view.last)) return view.last;
  return best(candidates, view, [](std::uint32_t a, std::uint32_t b) { return a < b; });
}

/// Loose round robin.
inline unsigned lrr(WarpSet16 candidates, const SchedulerView& view) {
  const unsigned after = candidates & ~((2u << view.last) - 1u);
  return static_cast<unsigned>(std::countr_zero(after ? after : static_cast<unsigned>(candidates)));
}

/// Compiler-guided greedy then youngest: what Turing to Blackwell do (Huerta et al., MICRO 2025). The
/// compiler's stall counts are not in traces; the dependences that they guard are.
inline unsigned cggty(WarpSet16 candidates, const SchedulerView& view) {
  if (contains(candidates, view.last)) return view.last;
  return best(candidates, view, [](std::uint32_t a, std::uint32_t b) { return a > b; });
}

}  // namespace policy

/// Which of the warps with room in their instruction buffers is fetched for: the one that the policy prefers
/// among those that did not issue last, so that a warp gets instructions as it gets issue slots. On an H100
/// PCIe n warps of dependent FFMA a sub-core take as long as the next multiple of four does (ncu,
/// h100_pcie_kernels.csv, derived rows): four run at full rate, the others wait; fetching in turn, or for the
/// warp that issued last, does not give that.
inline unsigned pick_fetch(config::SchedulerPolicy p, WarpSet16 candidates, const SchedulerView& view) {
  if (p == config::SchedulerPolicy::kLrr) return policy::lrr(candidates, view);
  const bool oldest = p == config::SchedulerPolicy::kGto;
  return policy::best(candidates, view,
                      [oldest](std::uint32_t a, std::uint32_t b) { return (a < b) == oldest; });
}

/// Precondition: candidates is not empty.
inline unsigned pick(config::SchedulerPolicy p, WarpSet16 candidates, const SchedulerView& view) {
  switch (p) {
    case config::SchedulerPolicy::kGto:
      return policy::gto(candidates, view);
    case config::SchedulerPolicy::kLrr:
      return policy::lrr(candidates, view);
    case config::SchedulerPolicy::kCggty:
      return policy::cggty(candidates, view);
  }
  return policy::gto(candidates, view);
}

}  // namespace lockstep::core
