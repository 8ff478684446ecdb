// Loops over the active lanes of a warp, and the values that its memory accesses move. Internal to src/exec.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "exec/lane_op.hpp"
#include "util/types.hpp"

namespace lockstep::exec {

inline constexpr LaneMask kAllLanes = ~LaneMask{0};

/// Calls f with the number of each lane of the mask, in order. `Lane`: the type of that number.
template <class Lane = int, class F>
void for_lanes(LaneMask mask, F&& f) {
  if (mask == kAllLanes)
    for (Lane l = 0; l < Lane{kLanes}; ++l) f(l);
  else
    for (; mask != 0; mask &= mask - 1) f(static_cast<Lane>(std::countr_zero(mask)));
}

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void write(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// Calls f with a value of the unsigned type of `bytes` bytes.
template <class F>
void with_width(unsigned bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}

inline void extend_sign(LaneValues& values, LaneMask mask, unsigned from, unsigned to) {
  const unsigned up = 64 - from;
  const std::uint64_t keep = to >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1;
  for_lanes(mask, [&](int l) {
    const auto wide = static_cast<std::int64_t>(values.lane[l] << up) >> up;
    values.lane[l] = static_cast<std::uint64_t>(wide) & keep;
  });
}

}  // namespace lockstep::exec
