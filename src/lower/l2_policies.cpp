#include "lower/l2_policies.hpp"

#include <algorithm>
#include <bit>

#include "exec/created_policy.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::lower {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;
using trace::L2Policy;

namespace {

bool is_register(const ptx::Operand& o) { return o.kind == OperandKind::kRegister; }

/// Nothing: it depends on values of registers or on addresses.
std::optional<L2Policy> made_policy(const ptx::Instruction& i) {
  if (!i.has(Mod::kFractional)) return std::nullopt;
  if (i.operands.size() < 2) return exec::fractional_policy(i.form, 1);
  if (i.operands[1].kind != OperandKind::kImmediate) return std::nullopt;
  const auto bits = ptx::immediate_bits(i.operands[1], ptx::Type::kF32);
  if (!bits) return std::nullopt;
  return exec::fractional_policy(i.form, std::bit_cast<float>(static_cast<std::uint32_t>(*bits)));
}

}  // namespace

/// In the order of the text, until nothing changes: what copies a policy may stand before what makes it.
L2Policies::L2Policies(const ptx::Function& function) {
  by_register_.resize(function.registers.size());
  const bool any = std::ranges::any_of(function.instructions,
                                       [](const ptx::Instruction& i) { return i.has(Mod::kL2CacheHint); });
  if (!any) return;
  std::vector<std::uint32_t> writes(function.registers.size());
  for (const ptx::Instruction& i : function.instructions)
    for (const ptx::RegisterId id : ptx::register_use(i).writes) ++writes[id];
  for (bool changed = true; changed;) {
    changed = false;
    for (const ptx::Instruction& i : function.instructions) {
      if (i.operands.size() < 1 || !is_register(i.operands[0]) || i.guard) continue;
      const ptx::RegisterId to = i.operands[0].reg;
      if (writes[to] != 1 || by_register_[to]) continue;
      if (i.op() == Opcode::kCreatepolicy)
        by_register_[to] = i.operands.size() > 1 && i.has(Mod::kCvt) ? value(i.operands[1]) : made_policy(i);
      else if (i.op() == Opcode::kMov && i.operands.size() == 2)
        by_register_[to] = value(i.operands[1]);
      changed = changed || by_register_[to].has_value();
    }
  }
}

std::optional<L2Policy> L2Policies::value(const ptx::Operand& operand) const {
  if (operand.kind == OperandKind::kImmediate) return trace::l2_policy_of(operand.bits);
  if (!is_register(operand) || operand.reg >= by_register_.size()) return std::nullopt;
  return by_register_[operand.reg];
}

std::optional<L2Policy> L2Policies::of(const ptx::Instruction& i) const {
  if (i.has(Mod::kL2CacheHint)) return value(i.operands[i.operands.size() - (i.has(Mod::kCpMask) ? 2 : 1)]);
  for (const Mod mod : i.form.mods)
    if (const auto priority = exec::l2_priority_of(mod); priority && *priority != L2Priority::kPlain)
      return trace::make_l2_policy(*priority);
  return trace::kNoL2Policy;
}

}  // namespace lockstep::lower
