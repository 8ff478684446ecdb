// What a scheduler knows of the warps of its sub-core.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace lockstep::core {

inline constexpr unsigned kWarpsPerSubcore = 16;
/// Warps of a sub-core, one bit each.
using WarpSet16 = std::uint16_t;

struct SchedulerView {
  unsigned last = 0;  // warp that issued, or was fetched for, last
  const std::array<std::uint32_t, kWarpsPerSubcore>* age = nullptr;  // counts launches: smaller is older
};

inline bool contains(WarpSet16 set, unsigned warp) { return set >> warp & 1; }

/// Preconditions of all that choose: candidates is not empty.
template <class Better>
unsigned best(WarpSet16 candidates, const SchedulerView& view, Better better) {
  auto chosen = static_cast<unsigned>(std::countr_zero(candidates));
  for (unsigned rest = candidates & (candidates - 1u); rest; rest &= rest - 1u) {
    const auto w = static_cast<unsigned>(std::countr_zero(rest));
    if (better((*view.age)[w], (*view.age)[chosen])) chosen = w;
  }
  return chosen;
}
inline unsigned oldest(WarpSet16 candidates, const SchedulerView& view) {
  return best(candidates, view, [](std::uint32_t a, std::uint32_t b) { return a < b; });
}
inline unsigned youngest(WarpSet16 candidates, const SchedulerView& view) {
  return best(candidates, view, [](std::uint32_t a, std::uint32_t b) { return a > b; });
}

}  // namespace lockstep::core
