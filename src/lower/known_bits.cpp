#include "lower/known_bits.hpp"

#include <algorithm>
#include <bit>

#include "ptx/liveness.hpp"

namespace lockstep::lower {

namespace {

using ptx::Opcode;
using ptx::OperandKind;

constexpr std::uint64_t kAny = ~std::uint64_t{0};

std::uint64_t width_mask(unsigned bits) { return bits >= 64 ? kAny : (std::uint64_t{1} << bits) - 1; }

/// All bits from the lowest of `mask` on.
std::uint64_t from_lowest(std::uint64_t mask) {
  return mask == 0 ? 0 : kAny << static_cast<unsigned>(std::countr_zero(mask));
}

std::uint64_t of_product(std::uint64_t a, std::uint64_t b) {
  if (a == 0 || b == 0) return 0;
  const int zeros = std::countr_zero(a) + std::countr_zero(b);
  return zeros >= 64 ? 0 : kAny << static_cast<unsigned>(zeros);
}

std::uint64_t of_sum(std::uint64_t a, std::uint64_t b) { return (a & b) == 0 ? a | b : from_lowest(a | b); }

class Bits {
 public:
  Bits(const ptx::Function& function, const std::vector<ptx::Variable>& variables)
      : function_(function), variables_(variables), possible_(function.registers.size()) {
    for (const ptx::Parameter& parameter : function.parameters)
      if (parameter.in_register)
        possible_[parameter.reg] = width_mask(ptx::bits(function.registers[parameter.reg].type));
  }

  std::vector<std::uint64_t> run() {
    constexpr unsigned kMaxPasses = 64;  // more: a chain of loops, of which nothing is said then
    for (unsigned pass = 0; pass < kMaxPasses; ++pass)
      if (!step()) return std::move(possible_);
    return std::vector<std::uint64_t>(possible_.size(), kAny);
  }

 private:
  bool step() {
    bool changed = false;
    for (const ptx::Instruction& i : function_.instructions) {
      const auto writes = ptx::register_use(i).writes;
      for (const ptx::RegisterId id : writes) {
        const bool single = writes.size() == 1 && i.operands[0].kind == OperandKind::kRegister;
        const std::uint64_t own = width_mask(ptx::bits(function_.registers[id].type));
        const std::uint64_t now = possible_[id] | ((single ? result(i) : kAny) & own);
        changed |= now != possible_[id];
        possible_[id] = now;
      }
    }
    return changed;
  }

  [[nodiscard]] std::uint64_t result(const ptx::Instruction& i) const {
    if (ptx::is_float(i.form.type()) || i.operands.size() < 2) return kAny;
    const unsigned bits = ptx::bits(i.form.type());
    if (i.has(ptx::Mod::kHi) || i.has(ptx::Mod::kSat)) return kAny;
    const std::uint64_t first = of(i.operands[1]), second = i.operands.size() > 2 ? of(i.operands[2]) : 0;
    switch (i.op()) {
      case Opcode::kMov:
      case Opcode::kCvta:
        return first;
      case Opcode::kCvt:
        return of_conversion(i, first);
      case Opcode::kAnd:
        return first & second;
      case Opcode::kOr:
      case Opcode::kXor:
        return first | second;
      case Opcode::kAdd:
        return of_sum(first, second) & width_mask(bits);
      case Opcode::kSub:
        return from_lowest(first | second) & width_mask(bits);
      case Opcode::kMul:
        return of_product(first, second) & width_mask(i.has(ptx::Mod::kWide) ? 2 * bits : bits);
      case Opcode::kMad:
        return i.operands.size() > 3 ? of_sum(of_product(first, second), of(i.operands[3])) : kAny;
      case Opcode::kShl:
      case Opcode::kShr:
        return of_shift(i, first) & width_mask(bits);
      default:
        return kAny;
    }
  }
  static std::uint64_t of_conversion(const ptx::Instruction& i, std::uint64_t from) {
    const unsigned to = ptx::bits(i.form.type()), had = ptx::bits(i.form.last_type());
    if (ptx::is_float(i.form.last_type())) return kAny;
    const std::uint64_t kept = from & width_mask(had);
    if (to <= had) {  // a register may be wider than the type: it has the sign, too
      const std::uint64_t cut = kept & width_mask(to);
      return ptx::is_signed(i.form.type()) && (cut >> (to - 1) & 1) != 0 ? cut | ~width_mask(to) : cut;
    }
    const bool sign = ptx::is_signed(i.form.last_type()) && (kept >> (had - 1) & 1) != 0;
    return sign ? kept | ~width_mask(had) : kept;
  }
  static std::uint64_t of_shift(const ptx::Instruction& i, std::uint64_t from) {
    const unsigned bits = ptx::bits(i.form.type());
    if (i.operands.size() < 3 || i.operands[2].kind != OperandKind::kImmediate) return kAny;
    const std::uint64_t by = i.operands[2].bits;
    if (by >= bits) return ptx::is_signed(i.form.type()) ? kAny : 0;
    if (i.op() == Opcode::kShl) return from << by;
    const bool sign = ptx::is_signed(i.form.type()) && (from >> (bits - 1) & 1) != 0;
    return sign ? kAny : (from & width_mask(bits)) >> by;
  }
  [[nodiscard]] std::uint64_t of(const ptx::Operand& operand) const {
    switch (operand.kind) {
      case OperandKind::kRegister:
        return operand.negated ? kAny : possible_[operand.reg];
      case OperandKind::kImmediate:
        return operand.bits;
      case OperandKind::kSymbol:
        return possible_bits(function_, variables_, operand.symbol, operand.offset);
      default:
        return kAny;
    }
  }
  const ptx::Function& function_;
  const std::vector<ptx::Variable>& variables_;
  std::vector<std::uint64_t> possible_;
};

}  // namespace

std::vector<std::uint64_t> possible_bits(const ptx::Function& function,
                                         const std::vector<ptx::Variable>& variables) {
  return Bits(function, variables).run();
}

std::uint64_t possible_bits(const ptx::Function& function, const std::vector<ptx::Variable>& variables,
                            const ptx::Symbol& symbol, std::int64_t offset) {
  const bool own = symbol.kind == ptx::SymbolKind::kLocal;
  if (!own && symbol.kind != ptx::SymbolKind::kVariable) return kAny;
  const ptx::Variable& variable = (own ? function.variables : variables)[symbol.id];
  std::uint64_t align = variable.align;
  if (variable.space == ptx::Space::kShared) align = std::max(align, kSharedAlignment);
  if (variable.space == ptx::Space::kLocal) align = std::max(align, kLocalAlignment);
  return of_sum(~(std::bit_floor(std::max<std::uint64_t>(align, 1)) - 1), static_cast<std::uint64_t>(offset));
}

}  // namespace lockstep::lower
