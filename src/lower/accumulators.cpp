#include "lower/accumulators.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "lower/use_counts.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::lower {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;

namespace {

bool is_plain_move(const Instruction& i) {
  return i.op() == Opcode::kMov && !i.guard && i.operands.size() == 2 &&
         i.operands[0].kind == OperandKind::kRegister;
}

/// What is known of registers that are written once.
class Known {
 public:
  explicit Known(const ptx::Function& function)
      : function_(function), writer_(function.registers.size(), kNowhere) {
    const auto writes = UseCounts(function).writes;
    for (std::uint32_t at = 0; at < function.instructions.size(); ++at)
      for (const ptx::RegisterId id : ptx::register_use(function.instructions[at]).writes)
        if (writes[id] == 1) writer_[id] = at;
  }

  /// setp.ne of two equal numbers.
  [[nodiscard]] bool is_false(const Operand& predicate) const {
    const Instruction* i = writer(predicate);
    if (i == nullptr || predicate.negated || i->op() != Opcode::kSetp || i->guard ||
        i->operands.size() != 3 || !i->has(Mod::kNe) || ptx::is_float(i->form.type()))
      return false;
    const auto a = number(i->operands[1]), b = number(i->operands[2]);
    return a && b && *a == *b;
  }

 private:
  static constexpr std::uint32_t kNowhere = ~0u;

  [[nodiscard]] const Instruction* writer(const Operand& operand) const {
    const bool known = operand.kind == OperandKind::kRegister && writer_[operand.reg] != kNowhere;
    return known ? &function_.instructions[writer_[operand.reg]] : nullptr;
  }
  [[nodiscard]] std::optional<std::uint64_t> number(const Operand& operand) const {
    if (operand.kind == OperandKind::kImmediate) return operand.bits;
    const Instruction* i = writer(operand);
    if (i == nullptr || !is_plain_move(*i)) return std::nullopt;
    return number(i->operands[1]);
  }

  const ptx::Function& function_;
  std::vector<std::uint32_t> writer_;  // by register
};

}  // namespace

const Operand* adds_accumulators(const Instruction& product) {
  if (product.op() != Opcode::kWgmma || !product.has(Mod::kMmaAsync)) return nullptr;
  const std::size_t at = product.has(Mod::kSp) ? 5 : 3;  // behind two matrices, and metadata and its selector
  return at < product.operands.size() ? &product.operands[at] : nullptr;
}

std::vector<bool> unread_moves(const ptx::Function& function) {
  std::vector<bool> unread(function.instructions.size());
  const bool any = std::ranges::any_of(function.instructions,
                                       [](const Instruction& i) { return i.op() == Opcode::kWgmma; });
  if (!any) return unread;
  const Known known(function);
  const ptx::ControlFlow flow(function);
  for (const ptx::Block& block : flow.blocks())
    for (std::uint32_t product = block.first; product < block.end; ++product) {
      const Operand* adds = adds_accumulators(function.instructions[product]);
      if (adds == nullptr || !known.is_false(*adds)) continue;
      const auto written = ptx::register_use(function.instructions[product]).writes;
      std::set<ptx::RegisterId> awaited(written.begin(), written.end());
      for (std::uint32_t at = product; at-- > block.first && !awaited.empty();) {
        const ptx::RegisterUse use = ptx::register_use(function.instructions[at]);
        for (const ptx::RegisterId id : use.reads) awaited.erase(id);
        for (const ptx::RegisterId id : use.writes)
          if (awaited.erase(id) > 0) unread[at] = is_plain_move(function.instructions[at]);
      }
    }
  return unread;
}

}  // namespace lockstep::lower
