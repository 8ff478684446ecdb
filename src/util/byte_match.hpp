// Looking through fingerprints of one byte, eight at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace lockstep {

/// A word of eight bytes, the first of them lowest, whatever the host's byte order.
inline std::uint64_t eight_bytes(const std::uint8_t* first) {
  std::uint64_t word;
  std::memcpy(&word, first, sizeof word);
  return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

/// The highest bit of each byte of `word` that is `byte`.
inline std::uint64_t matching_bytes(std::uint64_t word, std::uint8_t byte) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kLow = 0x7f * kOnes;
  const std::uint64_t different = word ^ kOnes * byte;
  return ~(((different & kLow) + kLow) | different | kLow);
}

}  // namespace lockstep
