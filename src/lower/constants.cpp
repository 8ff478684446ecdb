#include "lower/constants.hpp"

#include <algorithm>

#include "lower/accumulators.hpp"
#include "lower/addresses.hpp"
#include "lower/use_counts.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::lower {

namespace {

using ptx::Opcode;
using ptx::OperandKind;
using ptx::Space;

bool is_copy(const ptx::Instruction& i) {
  return (i.op() == Opcode::kMov || i.op() == Opcode::kCvta) && i.operands.size() == 2 &&
         i.operands[0].kind == OperandKind::kRegister;
}

/// Arithmetic of the compiler's, where all that it reads is known.
bool is_computed(const ptx::Instruction& i) {
  switch (i.op()) {
    case Opcode::kCvt:
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kMad:
    case Opcode::kFma:
    case Opcode::kNeg:
    case Opcode::kAbs:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kEx2:
      return i.operands.size() > 1 && i.operands[0].kind == OperandKind::kRegister;
    case Opcode::kSetp:
      return i.operands.size() == 3 && i.operands[0].kind == OperandKind::kRegister;
    default:
      return false;
  }
}

bool makes_constant(const ptx::Function& function, const ptx::Instruction& i,
                    const std::vector<bool>& constant) {
  if (i.guard || i.operands.size() != 2 || i.operands[0].kind != OperandKind::kRegister) return false;
  const ptx::Operand& from = i.operands[1];
  if (i.op() == Opcode::kLd) {
    const Space space = i.form.space();
    return function.entry && i.form.vector == 1 && (space == Space::kParam || space == Space::kParamEntry) &&
           from.base == ptx::AddressBase::kSymbol;
  }
  if (!is_copy(i)) return false;
  switch (from.kind) {
    case OperandKind::kImmediate:
    case OperandKind::kSymbol:
      return true;
    case OperandKind::kSpecial:
      return in_constant_bank(from.special);
    case OperandKind::kRegister:
      return constant[from.reg];
    default:
      return false;
  }
}

/// For an instruction that names no constant of the constant bank: a literal in place of this register.
/// Accesses to shared memory have one in the address; shuffles and the like have lanes and masks, products of
/// a warpgroup whether they add to their accumulators.
bool takes_literal(const ptx::Instruction& i, ptx::RegisterId id) {
  switch (i.op()) {
    case Opcode::kShfl:
    case Opcode::kMatch:
    case Opcode::kRedux:
      return i.operands[1].kind != OperandKind::kRegister || i.operands[1].reg != id;
    case Opcode::kWgmma: {
      const ptx::Operand* adds = adds_accumulators(i);
      return adds != nullptr && adds->kind == OperandKind::kRegister && adds->reg == id;
    }
    default: {
      const ptx::RegisterId* address = shared_address(i);
      return address != nullptr && *address == id;
    }
  }
}

}  // namespace

std::vector<bool> literals(const ptx::Function& function, bool computed) {
  const auto writes = UseCounts(function).writes;
  std::vector<bool> literal(function.registers.size());
  const auto known = [&](const ptx::Operand& from) {
    return from.kind == OperandKind::kImmediate || from.kind == OperandKind::kSymbol ||
           (from.kind == OperandKind::kRegister && literal[from.reg]);
  };
  for (const auto& i : function.instructions) {
    if (i.guard || !(is_copy(i) || (computed && is_computed(i))) || writes[i.operands[0].reg] != 1) continue;
    literal[i.operands[0].reg] = std::all_of(i.operands.begin() + 1, i.operands.end(), known);
  }
  return literal;
}

bool takes_constant(const ptx::Instruction& i) {
  switch (i.op()) {
    case Opcode::kLd:
    case Opcode::kLdu:
    case Opcode::kSt:
    case Opcode::kAtom:
    case Opcode::kRed:
    case Opcode::kTex:
    case Opcode::kTld4:
    case Opcode::kSuld:
    case Opcode::kSust:
    case Opcode::kMma:
    case Opcode::kWmma:
    case Opcode::kWgmma:
    case Opcode::kLdmatrix:
    case Opcode::kStmatrix:
    case Opcode::kCp:
    case Opcode::kShfl:
    case Opcode::kMatch:
    case Opcode::kRedux:
    case Opcode::kCall:
    case Opcode::kMbarrier:
    case Opcode::kBrx:
    case Opcode::kPrefetch:
    case Opcode::kPrefetchu:
      return false;
    default:
      for (const ptx::Operand& o : i.operands)
        if (o.kind != OperandKind::kRegister && o.kind != OperandKind::kImmediate &&
            o.kind != OperandKind::kSymbol && o.kind != OperandKind::kSpecial)
          return false;
      return true;
  }
}

bool in_constant_bank(ptx::Special special) {
  switch (special) {
    case ptx::Special::kNtid:
    case ptx::Special::kNctaid:
    case ptx::Special::kDynamicSmemSize:
    case ptx::Special::kTotalSmemSize:
    case ptx::Special::kNsmid:
      return true;
    default:
      return false;
  }
}

std::vector<bool> constant_operands(const ptx::Function& function, bool immediates) {
  const auto writes = UseCounts(function).writes;
  const auto literal = literals(function, immediates);
  std::vector<bool> constant(function.registers.size()), needed(function.registers.size());
  for (const auto& i : function.instructions) {
    if (takes_constant(i)) continue;
    for (const ptx::RegisterId id : ptx::register_use(i).reads)
      if (!immediates || !literal[id] || !takes_literal(i, id)) needed[id] = true;
  }
  for (const auto& i : function.instructions)
    if (makes_constant(function, i, constant) && writes[i.operands[0].reg] == 1)
      constant[i.operands[0].reg] = true;
  for (std::size_t id = 0; id < constant.size(); ++id) constant[id] = constant[id] || literal[id];
  for (std::size_t id = 0; id < constant.size(); ++id) constant[id] = constant[id] && !needed[id];
  return constant;
}

}  // namespace lockstep::lower
