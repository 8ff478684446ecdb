// Random choices that depend on the seed and on their purpose, not on when they are made.
#pragma once

#include <cstdint>

namespace lockstep::sampling {

/// Evenly from [0, bound), bound at least 1: splitmix64's finaliser (Steele, Lea and Flood, OOPSLA 2014) of
/// the three.
[[nodiscard]] inline std::uint64_t choose_below(std::uint64_t bound, std::uint64_t seed, std::uint64_t which,
                                                std::uint64_t number) {
  const auto mix = [](std::uint64_t z) {
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  };
  return mix(mix(mix(seed) ^ which) ^ number) % bound;
}

}  // namespace lockstep::sampling
