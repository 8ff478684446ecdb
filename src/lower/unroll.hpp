// Loops whose number of iterations is known, unrolled as a whole; partial_unroll.hpp has the others.
//
// Derived from what ptxas 13.0 makes, for sm_75, sm_80, sm_86 and sm_90, of loops that differ in the length
// of their body and in their number of iterations. It unrolls as a whole what has at most kMaxAlone
// instructions then (576 are, 1088 are not), of long bodies kMaxOfLongAlone (288 are, 520 are not) and of
// very short ones kMaxOfShortAlone (2048 are). Before sm_90, a loop inside another one that has no branches
// but its own is unrolled up to kMaxInNest (2304 and 2432 are unrolled, 4608 are not; of a program's loops
// under branches or with others that wait beside them, 2048 and 1024 are not). What of the body's addresses
// differs from iteration to iteration by a constant is an offset afterwards, and the counter is no
// instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::lower {

inline constexpr std::uint32_t kMaxInNest = 2560, kMaxAlone = 640, kMaxOfLongAlone = 320,
                               kMaxOfShortAlone = 2304;
/// Instructions of a body that count as short and as long there.
inline constexpr std::uint32_t kShortBody = 5, kLongBody = 18;

/// Copies of a loop's body: the instructions [first, end) are one or more iterations of it.
struct LoopCopies {
  std::uint32_t first = 0, end = 0;
};

/// A loop unrolled in part (partial_unroll.hpp): all of its copies, the most iterations first.
struct PartialLoop {
  std::vector<LoopCopies> copies;
};

struct Unrolled {
  ptx::Function function;
  std::vector<std::uint32_t> origin;  // by instruction: of which one of the source it is an execution
  std::vector<bool> gone;             // no instruction is left of it
  std::vector<bool> added;            // an execution of none: `origin` says what it belongs to
  std::vector<PartialLoop> partial;
};

/// The function as it is.
[[nodiscard]] Unrolled not_unrolled(const ptx::Function& function);

/// A warp that comes to an unrolled loop executes each iteration with the same lanes. `variables`: of the
/// program. `arch`: compute capability * 10.
[[nodiscard]] Unrolled unroll(const ptx::Function& function, const std::vector<ptx::Variable>& variables,
                              unsigned arch);

/// Instructions that take a loop's place.
struct InPlace {
  std::vector<ptx::Instruction> code;
  std::vector<std::uint32_t> origin;
  std::vector<bool> gone, added;
};

/// Puts them there. Labels at the loop's first instruction stay.
void replace(Unrolled& all, std::uint32_t first, std::uint32_t end, const InPlace& by);

}  // namespace lockstep::lower
