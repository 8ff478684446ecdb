#include "exec/lane_op.hpp"

#include "exec/alu_families.hpp"
#include "exec/alu_form.hpp"

namespace lockstep::exec {
namespace {

using alu::Form;
using ptx::Opcode;

using Select = LaneOp (*)(const Form&);

bool is_float_form(const Form& form) { return form.types() > 0 && ptx::is_float(form.type(0)); }

/// The family of each opcode that works on registers only; the second where the type is a floating-point one.
struct Family {
  Opcode op;
  Select select;
  Select for_float = nullptr;
};
constexpr Family kFamilies[] = {
    {Opcode::kAdd, &alu::select_integer},   {Opcode::kSub, &alu::select_integer},
    {Opcode::kMul, &alu::select_integer},   {Opcode::kMad, &alu::select_integer},
    {Opcode::kDiv, &alu::select_integer},   {Opcode::kAbs, &alu::select_integer},
    {Opcode::kNeg, &alu::select_integer},   {Opcode::kMin, &alu::select_integer},
    {Opcode::kMax, &alu::select_integer},   {Opcode::kRem, &alu::select_integer},
    {Opcode::kMul24, &alu::select_integer}, {Opcode::kMad24, &alu::select_integer},
    {Opcode::kSad, &alu::select_integer},   {Opcode::kAddc, &alu::select_carry},
    {Opcode::kSubc, &alu::select_carry},    {Opcode::kMadc, &alu::select_carry},
    {Opcode::kAnd, &alu::select_bits},      {Opcode::kOr, &alu::select_bits},
    {Opcode::kXor, &alu::select_bits},      {Opcode::kNot, &alu::select_bits},
    {Opcode::kCnot, &alu::select_bits},     {Opcode::kLop3, &alu::select_bits},
    {Opcode::kShf, &alu::select_bits},      {Opcode::kShl, &alu::select_bits},
    {Opcode::kShr, &alu::select_bits},      {Opcode::kBfe, &alu::select_bits},
    {Opcode::kBfi, &alu::select_bits},      {Opcode::kBfind, &alu::select_bits},
    {Opcode::kPopc, &alu::select_bits},     {Opcode::kClz, &alu::select_bits},
    {Opcode::kBrev, &alu::select_bits},     {Opcode::kFns, &alu::select_bits},
    {Opcode::kBmsk, &alu::select_bits},     {Opcode::kSzext, &alu::select_bits},
    {Opcode::kPrmt, &alu::select_bits},     {Opcode::kDp4a, &alu::select_bits},
    {Opcode::kDp2a, &alu::select_bits},     {Opcode::kSet, &alu::select_compare},
    {Opcode::kSetp, &alu::select_compare},  {Opcode::kSelp, &alu::select_compare},
    {Opcode::kSlct, &alu::select_compare},  {Opcode::kMov, &alu::select_move},
};

const Family* find(Opcode op) {
  for (const Family& family : kFamilies)
    if (family.op == op) return &family;
  return nullptr;
}

}  // namespace

std::optional<LaneOp> select_lane_op(const ptx::Instruction& instruction, unsigned destination_bits) {
  const Family* family = find(instruction.form.op);
  if (!family) return std::nullopt;
  const Form form(instruction, destination_bits);
  const bool carry = instruction.form.has(ptx::Mod::kCc);
  if (carry) return alu::select_carry(form);
  if (is_float_form(form) && family->for_float) return family->for_float(form);
  return family->select(form);
}

}  // namespace lockstep::exec
