// Divisions and roots whose machine code is a short sequence that does the usual operands, and a call of a
// subroutine for the others: which lanes call. Such lanes have a record of their own (record.hpp).
// Source: the code that ptxas 13.0 makes for sm_75 and sm_90 (opcodes and constants of its cubins).
#pragma once

#include "exec/lane_op.hpp"
#include "util/types.hpp"

namespace lockstep::ptx {
struct Form;
}

namespace lockstep::exec {

/// The lanes of args.mask whose operands the sequence does not do: zeros, denormals,
/// huge values and NaNs, and operands with such a result. To be asked before the destination is written.
using SlowPathFn = LaneMask (*)(const LaneArgs& args);

/// The slow path of rounding div, rcp and sqrt on f32 and f64; nullptr for other instructions. What FCHK
/// checks in the operands of f32 divisions is not public: the ranges in which the sequence is exact are
/// assumed.
[[nodiscard]] SlowPathFn slow_path(const ptx::Form& form);

}  // namespace lockstep::exec
