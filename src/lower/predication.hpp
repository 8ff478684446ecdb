// Short forward branches without a branch: what they jump over is guarded instead.
//
// Derived from what ptxas 13.0 makes, for sm_75, sm_80 and sm_90, of kernels that differ in one respect each:
// the number and kind of the instructions under an `if`. Up to kMaxPredicated machine instructions are
// predicated, kMaxUniform where all lanes of a warp decide alike, kMaxWithLoad where one of them is a load
// that may miss the L1 (global, generic or local: whoever waits for it saves the way around),
// kMaxWithArrival where one is an arrival at an mbarrier, mapa and the address in shared memory counted. Not
// those with atomics, barriers, fences, calls, warp-wide instructions or guards of their own, nor of several
// basic blocks: an inner `if` is predicated, the one around it stays. Of if and else both sides must fit, the
// jump from one over the other counted. A branch to the end is a predicated EXIT there: the branch that stays
// here takes its place. Branches around the copies of a loop unrolled in part stay, though ptxas has guards
// instead of short ones. Assumed: exact divisions and roots, which branch themselves, stay under their
// branch.
#pragma once

#include <cstdint>
#include <vector>

#include "lower/unroll.hpp"
#include "ptx/ir.hpp"

namespace lockstep::lower {

inline constexpr std::uint32_t kMaxPredicated = 8, kMaxUniform = 6, kMaxWithLoad = 20, kMaxWithArrival = 7;

/// A function without its short branches, instruction by instruction.
struct Predicated {
  ptx::Function function;
  std::vector<std::uint32_t> origin;   // by instruction: Unrolled::origin
  std::vector<std::uint32_t> carrier;  // whose execution has its addresses: itself where nothing is merged
  std::vector<bool> gone;              // what is no instruction any more
  std::vector<bool> added;             // Unrolled::added
  std::vector<bool> optional;  // not executed by a warp of whose lanes none comes there; else as the others
  std::vector<PartialLoop> partial;
};

/// Whether it has branches that may be short enough.
[[nodiscard]] bool may_be_predicated(const ptx::Function& function);

/// `lengths`: machine instructions of each instruction of the function.
[[nodiscard]] Predicated predicate(const Unrolled& all, const std::vector<std::uint32_t>& lengths);

/// The function as it is.
[[nodiscard]] Predicated unpredicated(const Unrolled& all);

}  // namespace lockstep::lower
