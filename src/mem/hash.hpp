// Integer hashing of addresses: the same on every host.
#pragma once

#include <cstdint>

namespace lockstep::mem {

/// Finaliser of splitmix64 (Steele et al., 2014): every input bit changes every output bit with probability
/// 1/2.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// mix(x) spread evenly over 0..n-1, without a division.
[[nodiscard]] constexpr std::uint32_t mix_below(std::uint64_t x, std::uint32_t n) {
  return static_cast<std::uint32_t>((mix(x) >> 32) * n >> 32);
}

}  // namespace lockstep::mem
