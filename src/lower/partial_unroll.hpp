// Loops unrolled in part: several copies of the body, executed as long as that many iterations are left, and
// fewer of them for what is left then.
//
// Derived from what ptxas 13.0 makes, for sm_75, sm_80, sm_86 and sm_90, of loops that differ in the number
// and kind of the instructions of their body. Weighed are PTX instructions without those that count and
// branch: loads and barriers twice, approximations that are no single instruction kApproximation times.
//
// If the number of iterations is not known, there are four copies, or none. A body without loads may weigh
// kMaxPlain (18 FFMAs are unrolled, 20 are not; likewise with IMAD, DFMA, LOP3); each load from shared
// memory, whatever its width, raises that by kPerSharedLoad (1, 2, 4, 8 and 14 loads with an FADD each: 20,
// 22, 26, 34 and 46 FFMAs more), up to kMaxShared (16 and 20 loads: 48 and 36); one load from elsewhere
// raises it to kMaxLoading (1, 2, 4, 8 and 10 loads with an FADD each: 43, 40, 34, 22 and 16 FFMAs more).
// Before the copies the iterations that are left are compared with four; behind them two copies are executed
// if two are left, and one if one is; a loop that goes on while its counter differs from the limit ends in a
// loop for these.
//
// If the number is known, but is too large to unroll the loop as a whole, bodies that weigh at most
// kMaxKnown, without additions that become offsets of addresses, have the most copies with which they and
// those for the rest weigh at most kMaxOfKnown (4096 iterations of 2, 8, 16 and 32 FFMAs: 157, 39, 16 and 9
// copies, and 14, 1, 0 and 1 for the rest).
//
// Not at all: bodies with warp-wide instructions, atomics whose result is used, calls, fences, exact
// divisions and roots, steps that are no constants, and loops that end when a comparison is false.
#pragma once

#include <cstdint>

#include "lower/counted_loops.hpp"
#include "lower/unroll.hpp"

namespace lockstep::lower {

inline constexpr std::uint32_t kMaxPlain = 18, kPerSharedLoad = 5, kMaxShared = 97, kMaxLoading = 47,
                               kMaxKnown = 72, kMaxOfKnown = 350, kApproximation = 5;

/// Puts copies in the loop's place, if it is to be unrolled in part. Returns whether it is. `possible`:
/// possible_bits() of the function.
bool unroll_in_part(Unrolled& all, const CountedLoop& loop, const std::vector<std::uint64_t>& possible);

}  // namespace lockstep::lower
