#include "exec/lane_op.hpp"

#include <algorithm>
#include <array>

#include "exec/alu_families.hpp"
#include "exec/alu_form.hpp"

namespace lockstep::exec {
namespace {

using alu::Form;
using enum ptx::Opcode;

using Select = LaneOp (*)(const Form&);

/// Opcodes that work on registers only, by who selects their kernel; `for_float` where the type is a
/// floating-point one.
struct Family {
  std::span<const ptx::Opcode> opcodes;
  Select select;
  Select for_float;
};
constexpr ptx::Opcode kBoth[] = {kAdd, kSub, kMul, kMad, kDiv};
constexpr ptx::Opcode kSimple[] = {kAbs, kNeg, kMin, kMax};
constexpr ptx::Opcode kInteger[] = {kMul24, kMad24, kSad, kRem};
constexpr ptx::Opcode kCarry[] = {kAddc, kSubc, kMadc};
constexpr ptx::Opcode kBitwise[] = {kAnd,  kOr,  kXor,  kNot,   kCnot,  kLop3, kShf,
                                    kShl,  kShr, kBfe,  kBfi,   kBfind, kPopc, kClz,
                                    kBrev, kFns, kBmsk, kSzext, kPrmt,  kDp4a, kDp2a};
constexpr ptx::Opcode kCompare[] = {kSet, kSetp, kSelp, kSlct};
constexpr ptx::Opcode kMove[] = {kMov};
constexpr ptx::Opcode kConvert[] = {kCvt};
constexpr ptx::Opcode kVideo[] = {kVadd,  kVsub,  kVabsdiff, kVmin,      kVmax,      kVshl,  kVshr,  kVset,
                                  kVmad,  kVadd2, kVsub2,    kVavrg2,    kVabsdiff2, kVmin2, kVmax2, kVset2,
                                  kVadd4, kVsub4, kVavrg4,   kVabsdiff4, kVmin4,     kVmax4, kVset4};
constexpr ptx::Opcode kMatrix[] = {kMma, kMovmatrix};
constexpr ptx::Opcode kWarp[] = {kShfl, kVote, kMatch, kRedux, kActivemask, kElect};
constexpr ptx::Opcode kArithmetic[] = {kFma, kRcp, kSqrt};
constexpr ptx::Opcode kSign[] = {kCopysign, kTestp};
constexpr ptx::Opcode kApprox[] = {kRsqrt, kSin, kCos, kLg2, kEx2, kTanh};

constexpr Family kFamilies[] = {
    {kBoth, &alu::select_integer, &alu::select_arithmetic},
    {kSimple, &alu::select_integer, &alu::select_sign},
    {kInteger, &alu::select_integer, nullptr},
    {kCarry, &alu::select_carry, nullptr},
    {kBitwise, &alu::select_bits, nullptr},
    {kCompare, &alu::select_compare, nullptr},
    {kMove, &alu::select_move, nullptr},
    {kConvert, &alu::select_convert, nullptr},
    {kWarp, &alu::select_warp, nullptr},
    {kMatrix, &alu::select_matrix, nullptr},
    {kVideo, &alu::select_video, nullptr},
    {kArithmetic, &alu::select_arithmetic, nullptr},
    {kSign, &alu::select_sign, nullptr},
    {kApprox, &alu::select_approx, nullptr},
};

const Family* find(ptx::Opcode op) {
  for (const Family& family : kFamilies)
    if (std::find(family.opcodes.begin(), family.opcodes.end(), op) != family.opcodes.end()) return &family;
  return nullptr;
}

}  // namespace

std::optional<LaneOp> select_lane_op(const ptx::Instruction& instruction, unsigned destination_bits) {
  const Family* family = find(instruction.form.op);
  if (instruction.form.op == kWmma && instruction.form.has(ptx::Mod::kMma))
    return alu::select_matrix(
        Form(instruction, destination_bits));  // wmma.load and wmma.store are the executor's
  if (!family) return std::nullopt;
  const Form form(instruction, destination_bits);
  if (form.has(ptx::Mod::kApprox) || form.has(ptx::Mod::kFull)) return alu::select_approx(form);
  if (form.has(ptx::Mod::kCc)) return alu::select_carry(form);
  const bool is_float = form.types() > 0 && ptx::is_float(form.type());
  return is_float && family->for_float ? family->for_float(form) : family->select(form);
}

}  // namespace lockstep::exec
