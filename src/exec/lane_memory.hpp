// What memory accesses do with all lanes of a warp at once, for any x86-64 host and for those with AVX2.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/lane_op.hpp"

namespace lockstep::exec {

/// What the addresses of a warp's active lanes have in common.
struct AddressSpan {
  std::uint64_t bits = 0;                 // set in any of them
  std::uint64_t differ = 0;               // bits in which any differs from the first active lane's
  std::uint64_t lowest = 0, highest = 0;  // as signed numbers: for offsets
  bool neighbours = false;                // all 32 lanes are active, each `bytes` behind the one before it
};

struct LaneMemory {
  /// `mask` is not 0; `bytes`: of one lane's access.
  AddressSpan (*span)(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes);
  /// The addresses base + offset, of which the bits of `keep` count, to `out`, and the span of those of
  /// `mask`.
  AddressSpan (*locate)(const LaneValues& base, std::uint64_t offset, std::uint64_t keep, std::uint32_t mask,
                        std::uint32_t bytes, std::uint64_t* out);
  /// Bit i: the lowest bit of lane i's value.
  std::uint32_t (*predicate)(const LaneValues& values);
  /// 32 neighbouring elements of 1, 2, 4 or 8 bytes to and from the low bits of values.
  void (*load[4])(const std::byte* from, LaneValues& to);
  void (*store[4])(std::byte* to, const LaneValues& from);
};

/// The implementation for this host.
[[nodiscard]] const LaneMemory& lane_memory();

}  // namespace lockstep::exec
