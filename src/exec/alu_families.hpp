// The families of lane kernels: each selects the kernel of its opcodes or fails (Form::fail).
#pragma once

#include "exec/lane_op.hpp"

namespace lockstep::exec::alu {

class Form;

LaneOp select_integer(const Form& form);
LaneOp select_carry(const Form& form);
LaneOp select_bits(const Form& form);
LaneOp select_compare(const Form& form);
LaneOp select_arithmetic(const Form& form);

/// Rounding other than to nearest.
enum class Direction : std::uint8_t { kZero, kDown, kUp };
/// Arithmetic that rounds in this direction; `flags` are those of alu_arithmetic.hpp.
LaneOp select_directed(const Form& form, Direction to, unsigned flags);

LaneOp select_sign(const Form& form);
LaneOp select_approx(const Form& form);
LaneOp select_convert(const Form& form);
/// The most frequent conversions. False: not one of those.
bool select_common_convert(const Form& form, LaneOp& out);
LaneOp select_warp(const Form& form);
LaneOp select_matrix(const Form& form);
/// mma.m8n8k4 of f16: a product for each pair of quads.
LaneOp select_quad_pairs(const Form& form);
LaneOp select_video(const Form& form);
LaneOp select_move(const Form& form);

}  // namespace lockstep::exec::alu
