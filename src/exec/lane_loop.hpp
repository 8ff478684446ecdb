// Loops over the active lanes of a warp's memory accesses. Internal to src/exec.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "exec/warp.hpp"

namespace lockstep::exec {

template <class F>
void for_lanes(LaneMask mask, F&& f) {
  if (mask == kAllLanes)
    for (int l = 0; l < kLanes; ++l) f(l);
  else
    for (; mask != 0; mask &= mask - 1) f(std::countr_zero(mask));
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

inline void extend_sign(LaneSlots& slots, LaneMask mask, unsigned from, unsigned to) {
  const unsigned up = 64 - from;
  const std::uint64_t keep = to >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1;
  for_lanes(mask, [&](int l) {
    const auto wide = static_cast<std::int64_t>(slots.lane[l] << up) >> up;
    slots.lane[l] = static_cast<std::uint64_t>(wide) & keep;
  });
}

}  // namespace lockstep::exec
