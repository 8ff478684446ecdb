// Accumulators of a warpgroup's products that do not add to them.
#pragma once

#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::lower {

/// Of wgmma.mma_async: the operand that says whether it adds to its accumulators; null where there is none.
[[nodiscard]] const ptx::Operand* adds_accumulators(const ptx::Instruction& product);

/// By place: a move that nothing reads, since what comes to its register next is a product that does not add
/// to it. PTX has accumulators as operands that are read and written, so programs give them values first;
/// ptxas 13.0 makes no instruction of such a move where it is certain that the product does not add.
[[nodiscard]] std::vector<bool> unread_moves(const ptx::Function& function);

}  // namespace lockstep::lower
