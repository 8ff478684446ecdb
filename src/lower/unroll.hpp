// Loops whose number of iterations is known, unrolled as a whole.
//
// Derived from what ptxas 13.0 makes for sm_86 of loops that differ in the length of their body and in their
// number of iterations. It unrolls as a whole what has at most kMostInNest instructions then, if the loop is
// inside another one that has no branches but its own (2304 and 2432 are unrolled, 4608 are not; of a
// program's loops under branches or with others that wait beside them, 2048 and 1024 are not), else kMostAlone (576 are, 1152 are not), of
// long bodies kMostOfLongAlone (288 are, 576 are not) and of very short ones kMostOfShortAlone (2048 are). What of the
// body's addresses differs from iteration to iteration by a constant is an offset afterwards, and the counter
// is no instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::lower {

inline constexpr std::uint32_t kMostInNest = 2560, kMostAlone = 640, kMostOfLongAlone = 320,
                               kMostOfShortAlone = 2304;
/// Instructions of a body that count as short and as long there.
inline constexpr std::uint32_t kShortBody = 5, kLongBody = 18;

struct Unrolled {
  ptx::Function function;
  std::vector<std::uint32_t> origin;  // by instruction: of which one of the source it is an execution
  std::vector<bool> gone;             // no instruction is left of it
};

/// The function as it is.
[[nodiscard]] Unrolled not_unrolled(const ptx::Function& function);

/// A warp that comes to an unrolled loop executes each iteration with the same lanes. `variables`: of the
/// program.
[[nodiscard]] Unrolled unroll(const ptx::Function& function, const std::vector<ptx::Variable>& variables);

/// What stands for an instruction that is none: nothing is read, written or kept in place.
[[nodiscard]] ptx::Instruction nothing_of(const ptx::Instruction& instruction);

}  // namespace lockstep::lower
