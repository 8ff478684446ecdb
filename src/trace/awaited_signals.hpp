// For which signals of other warps, CTAs, kernels or devices a warp waits, in the words of its record.
//
// A record whose opcode is AWAIT has, instead of lane addresses, pairs of words: a 4-byte word of global
// memory, and how many writes of instructions whose opcode says .SIGNALS this word must have had, since the
// recording began, before the warp goes on. Its mask has as many of the lowest lanes as there are words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "util/types.hpp"

namespace lockstep::trace {

struct AwaitedSignals {
  Address word = 0;           // a multiple of 4
  std::uint32_t signals = 0;  // modulo 2^32
};

inline constexpr unsigned kAwaitedPerRecord = kWarpSize / 2;

[[nodiscard]] constexpr LaneMask awaiting_lanes(std::size_t pairs) {
  return pairs >= kAwaitedPerRecord ? ~LaneMask{0} : (LaneMask{1} << 2 * pairs) - 1;
}

}  // namespace lockstep::trace
