#include "lower/addresses.hpp"

#include <algorithm>
#include <span>

#include "lower/constants.hpp"
#include "lower/use_counts.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::lower {

namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::RegisterId;

constexpr unsigned kFirstWithClusters = 90;
constexpr std::uint64_t kMinScale = 2, kMaxScale = 4;  // R.X4 to R.X16

bool reads(const ptx::Operand& operand, RegisterId id) {
  return (operand.kind == OperandKind::kRegister && operand.reg == id) ||
         std::ranges::any_of(operand.elements, [id](const ptx::Operand& e) { return reads(e, id); });
}

bool is_integer_operation(const Instruction& i, Opcode op) {
  return i.op() == op && !i.guard && i.form.mods.empty() && i.operands.size() == 3 &&
         ptx::bits(i.form.type()) == 32 && !ptx::is_float(i.form.type()) &&
         i.operands[0].kind == OperandKind::kRegister;
}

bool is_low_mad(const Instruction& i) {
  return i.op() == Opcode::kMad && !i.guard && i.has(ptx::Mod::kLo) && i.form.mods.size() == 1 &&
         ptx::bits(i.form.type()) == 32 && i.operands.size() == 4 &&
         i.operands[0].kind == OperandKind::kRegister;
}

/// Walks the function backwards, so that what reads a register is known before what makes it.
class Folding {
 public:
  Folding(const ptx::Function& function, unsigned arch)
      : function_(function),
        arch_(arch),
        literals_(literals(function, true)),
        counts_(function),
        uses_(function.registers.size()) {}

  void run(const Run& run, std::vector<FoldedAddress>& found) {
    for (std::uint32_t at = run.end; at-- > run.first;) {
      const Instruction& i = function_.instructions[at];
      if (const RegisterId* address = shared_address(i)) {
        as_address(*address, at, run);
      } else if (const RegisterId* from = source(i, run)) {
        found.push_back({at, *from});
        const std::uint32_t last = uses_[i.operands[0].reg].last;
        as_address(*from, last, run);
        uses_[*from].scaled |= i.op() == Opcode::kShl || uses_[i.operands[0].reg].scaled;
      }
      for (const RegisterId id : ptx::register_use(i).writes) uses_[id].written_at = at;
    }
  }

 private:
  struct Use {
    std::uint32_t as_address = 0;    // how many read it as an address
    std::uint32_t run = 0;           // of the reads as an address
    std::uint32_t last = 0;          // of them
    std::uint32_t written_at = ~0u;  // the next write, seen from where the walk is
    bool one_run = true;
    bool scaled = false;
  };

  void as_address(RegisterId id, std::uint32_t last, const Run& run) {
    Use& use = uses_[id];
    use.one_run &= use.as_address == 0 || use.run == run.first;
    use.run = run.first;
    use.last = std::max(use.last, last);
    ++use.as_address;
  }

  /// What an access may read in place of the instruction's result; null where it cannot.
  [[nodiscard]] const RegisterId* source(const Instruction& i, const Run& run) const {
    const RegisterId* from = is_integer_operation(i, Opcode::kShl)   ? shifted(i)
                             : is_integer_operation(i, Opcode::kAdd) ? added(i)
                             : is_low_mad(i)                         ? added_product(i)
                                                                     : nullptr;
    if (from == nullptr || *from == i.operands[0].reg) return nullptr;
    const RegisterId result = i.operands[0].reg;
    const Use& to = uses_[result];
    if (counts_.writes[result] != 1 || to.as_address == 0 || to.as_address != counts_.reads[result])
      return nullptr;
    const bool stays = counts_.writes[*from] == 1 ||
                       (to.one_run && to.run == run.first && uses_[*from].written_at > to.last);
    return stays ? from : nullptr;
  }

  [[nodiscard]] const RegisterId* shifted(const Instruction& i) const {
    if (arch_ >= kFirstWithClusters || uses_[i.operands[0].reg].scaled) return nullptr;
    const ptx::Operand& by = i.operands[2];
    const bool fits = by.kind == OperandKind::kImmediate && by.bits >= kMinScale && by.bits <= kMaxScale;
    return fits && i.operands[1].kind == OperandKind::kRegister ? &i.operands[1].reg : nullptr;
  }

  /// A product of literals and a register.
  [[nodiscard]] const RegisterId* added_product(const Instruction& i) const {
    const bool known = is_constant(i.operands[1]) && is_constant(i.operands[2]);
    return known && i.operands[3].kind == OperandKind::kRegister ? &i.operands[3].reg : nullptr;
  }

  [[nodiscard]] const RegisterId* added(const Instruction& i) const {
    for (const std::size_t which : {1u, 2u}) {
      const ptx::Operand &x = i.operands[which], &other = i.operands[3 - which];
      if (x.kind == OperandKind::kRegister && !literals_[x.reg] && is_constant(other)) return &x.reg;
    }
    return nullptr;
  }

  [[nodiscard]] bool is_constant(const ptx::Operand& operand) const {
    if (operand.kind == OperandKind::kImmediate) return true;
    return arch_ < kFirstWithClusters && operand.kind == OperandKind::kRegister && literals_[operand.reg];
  }

  const ptx::Function& function_;
  unsigned arch_;
  std::vector<bool> literals_;
  UseCounts counts_;
  std::vector<Use> uses_;
};

}  // namespace

const RegisterId* shared_address(const Instruction& i) {
  const bool loads = i.op() == Opcode::kLd || i.op() == Opcode::kAtom;
  if (!loads && i.op() != Opcode::kSt && i.op() != Opcode::kRed) return nullptr;
  if (i.form.space() != ptx::Space::kShared && i.form.space() != ptx::Space::kSharedCta) return nullptr;
  const std::size_t at = loads ? 1 : 0;
  if (at >= i.operands.size()) return nullptr;
  const ptx::Operand& address = i.operands[at];
  if (address.kind != OperandKind::kAddress || address.base != ptx::AddressBase::kRegister) return nullptr;
  const auto others = std::span(i.operands).subspan(loads ? 2 : 1);
  const bool also_data = std::ranges::any_of(others, [&](const auto& o) { return reads(o, address.reg); });
  return also_data || (i.guard && i.guard->reg == address.reg) ? nullptr : &address.reg;
}

std::vector<FoldedAddress> folded_addresses(const ptx::Function& function, const std::vector<Run>& runs,
                                            unsigned arch) {
  std::vector<FoldedAddress> found;
  Folding folding(function, arch);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) folding.run(*run, found);
  return found;
}

}  // namespace lockstep::lower
