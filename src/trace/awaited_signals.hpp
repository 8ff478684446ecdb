// The signals of other warps, CTAs, kernels or devices for which a warp waits, in the words of its record.
//
// A record with the opcode AWAIT has the form of an affine one: its base is a 4-byte word of global memory,
// its stride the number of writes by instructions whose opcode has .SIGNALS that this word must have received
// since the recording began, before the lanes of the mask continue. Consecutive records are waited for
// together.
#pragma once

#include <cstdint>

#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

struct AwaitedSignals {
  Address word = 0;           // a multiple of 4
  std::uint32_t signals = 0;  // modulo 2^32; 0: nothing is waited for
};

/// The signals of an AWAIT record; one of another form, which no recording has, waits for nothing.
[[nodiscard]] inline AwaitedSignals awaited_signals(AddressForm form, const std::uint64_t* words) {
  if (form != AddressForm::kAffine) return {};
  return {words[0] & ~Address{3}, static_cast<std::uint32_t>(words[1])};
}

}  // namespace lockstep::trace
