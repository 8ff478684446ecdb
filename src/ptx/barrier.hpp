// What an instruction says of a barrier of the CTA (bar, barrier).
#pragma once

#include <cstddef>

#include "ptx/ir.hpp"

namespace lockstep::ptx {

/// Whether it names how many threads take part, or has the barrier's number in a register: then the number
/// alone does not say which warps meet there.
[[nodiscard]] inline bool is_counted_barrier(const Instruction& i) {
  const std::size_t at = i.has(Mod::kRed) ? 1 : 0;                         // of the number
  const std::size_t end = i.operands.size() - (i.has(Mod::kRed) ? 1 : 0);  // the predicate
  return at < end && (at + 1 < end || i.operands[at].kind != OperandKind::kImmediate);
}

}  // namespace lockstep::ptx
