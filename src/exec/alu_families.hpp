// The families of lane kernels: each selects the kernel of its opcodes or fails (Form::fail).
#pragma once

#include "exec/lane_op.hpp"

namespace lockstep::exec::alu {

class Form;

LaneOp select_integer(const Form& form);
LaneOp select_carry(const Form& form);
LaneOp select_bits(const Form& form);
LaneOp select_compare(const Form& form);
LaneOp select_move(const Form& form);

}  // namespace lockstep::exec::alu
