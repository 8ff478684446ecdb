// For which signals of other warps, CTAs, kernels or devices a warp waits, in the words of its record.
//
// A record whose opcode is AWAIT has, as base and stride of an affine one, a 4-byte word of global memory and
// how many writes of instructions whose opcode says .SIGNALS this word must have had, since the recording
// began, before the lanes of its mask go on. Records that follow each other are waited for together.
#pragma once

#include <cstdint>

#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

struct AwaitedSignals {
  Address word = 0;           // a multiple of 4
  std::uint32_t signals = 0;  // modulo 2^32; 0: nothing is waited for
};

/// The signals of a record of AWAIT; one of another form, which no recording has, waits for nothing.
[[nodiscard]] inline AwaitedSignals awaited_signals(AddressForm form, const std::uint64_t* words) {
  if (form != AddressForm::kAffine) return {};
  return {words[0] & ~Address{3}, static_cast<std::uint32_t>(words[1])};
}

}  // namespace lockstep::trace
