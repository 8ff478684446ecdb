#include "lower/linear_values.hpp"

#include <algorithm>

namespace lockstep::lower {

namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::OperandKind;

/// Kinds of nodes that are no PTX instruction; their keys begin with it.
enum : std::uint64_t { kSum = 1, kProduct, kSymbol, kOperation };

std::int64_t cut(std::int64_t value, ptx::Type type) {
  return ptx::bits(type) == 32 ? static_cast<std::int32_t>(value) : value;
}

/// Whether it is the same number as a value of the type, signed or not.
bool fits(std::int64_t value, ptx::Type type) { return value >= 0 && value >> (ptx::bits(type) - 1) == 0; }

/// Modulo 2^64.
std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

bool is_arithmetic(const Instruction& i) {
  if (i.guard || i.operands.size() < 2 || i.operands[0].kind != OperandKind::kRegister) return false;
  if (ptx::is_float(i.form.type()) || ptx::is_float(i.form.last_type()) || ptx::bits(i.form.type()) < 32 ||
      i.has(ptx::Mod::kCc))
    return false;
  return is_plain_arithmetic(i.op());
}

}  // namespace

bool is_plain_arithmetic(Opcode op) {
  switch (op) {
    case Opcode::kMov:
    case Opcode::kCvta:
    case Opcode::kCvt:
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kMad:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kShl:
    case Opcode::kShr:
      return true;
    default:
      return false;
  }
}

LinearValue LinearValues::of(ptx::RegisterId id) {
  const auto [at, added] = values_.try_emplace(id);
  if (added) at->second = fresh();
  return at->second;
}

std::optional<LinearValue> LinearValues::of(const ptx::Operand& operand) {
  switch (operand.kind) {
    case OperandKind::kRegister:
      return operand.negated ? std::nullopt : std::optional(of(operand.reg));
    case OperandKind::kImmediate:
      return LinearValue{0, static_cast<std::int64_t>(operand.bits)};
    case OperandKind::kSymbol:
      return LinearValue{node({kSymbol, static_cast<std::uint64_t>(operand.symbol.kind), operand.symbol.id}),
                         operand.offset};
    default:
      return std::nullopt;
  }
}

std::optional<LinearValue> LinearValues::result(const Instruction& i) {
  if (!is_arithmetic(i)) return std::nullopt;
  std::vector<LinearValue> read;
  for (std::size_t o = 1; o < i.operands.size(); ++o) {
    const auto value = of(i.operands[o]);
    if (!value) return std::nullopt;
    read.push_back(*value);
  }
  if (auto value = linear(i, read)) {
    if (!i.has(ptx::Mod::kWide)) value->offset = cut(value->offset, i.form.type());
    return value;
  }
  Key key{kOperation, static_cast<std::uint64_t>(i.op())};
  for (const ptx::Type type : i.form.types) key.push_back(static_cast<std::uint64_t>(type));
  for (const ptx::Mod mod : i.form.mods) key.push_back(static_cast<std::uint64_t>(mod));
  for (const LinearValue& value : read) {
    key.push_back(value.node);
    key.push_back(static_cast<std::uint64_t>(value.offset));
  }
  return LinearValue{node(key), 0};
}

std::optional<LinearValue> LinearValues::linear(const Instruction& i, const std::vector<LinearValue>& read) {
  const bool low = i.form.mods.empty() || (i.form.mods.size() == 1 && i.has(ptx::Mod::kLo));
  const auto is_constant = [&](std::size_t at) { return read[at].node == 0; };
  switch (i.op()) {
    case Opcode::kMov:
      return read[0];
    case Opcode::kCvt:
      if (is_constant(0) && fits(read[0].offset, i.form.last_type()) && i.form.mods.empty()) return read[0];
      break;
    case Opcode::kAdd:
      if (i.form.mods.empty()) return sum(read[0], read[1]);
      break;
    case Opcode::kSub:
      if (i.form.mods.empty() && is_constant(1))
        return LinearValue{read[0].node, wrapped_sum(read[0].offset, times(read[1].offset, -1))};
      break;
    case Opcode::kMul:
    case Opcode::kMad: {
      if (i.op() == Opcode::kMul && i.has(ptx::Mod::kWide) && is_constant(0) && is_constant(1) &&
          fits(read[0].offset, i.form.type()) && fits(read[1].offset, i.form.type()))
        return product(read[0], read[1].offset);
      if (!low || (!is_constant(0) && !is_constant(1))) break;
      const LinearValue all =
          is_constant(1) ? product(read[0], read[1].offset) : product(read[1], read[0].offset);
      return i.op() == Opcode::kMul ? all : sum(all, read[2]);
    }
    case Opcode::kShl:
      if (is_constant(1) && read[1].offset >= 0 && read[1].offset < 31)
        return product(read[0], std::int64_t{1} << read[1].offset);
      break;
    case Opcode::kOr:
      if ((possible(i.operands[1]) & possible(i.operands[2])) == 0) return sum(read[0], read[1]);
      break;
    default:
      break;
  }
  return std::nullopt;
}

LinearValue LinearValues::sum(LinearValue a, LinearValue b) {
  const std::int64_t offset = wrapped_sum(a.offset, b.offset);
  if (a.node == 0 || b.node == 0) return {a.node + b.node, offset};
  return {node({kSum, std::min(a.node, b.node), std::max(a.node, b.node)}), offset};
}

LinearValue LinearValues::product(LinearValue a, std::int64_t by) {
  const std::int64_t offset = times(a.offset, by);
  if (a.node == 0) return {0, offset};
  if (by == 1) return a;
  return {node({kProduct, a.node, static_cast<std::uint64_t>(by)}), offset};
}

std::uint32_t LinearValues::node(const Key& key) {
  const auto [at, added] = nodes_.try_emplace(key);
  if (added) at->second = ++last_;
  return at->second;
}

std::uint64_t LinearValues::possible(const ptx::Operand& operand) const {
  if (operand.kind == OperandKind::kImmediate) return operand.bits;
  return operand.kind == OperandKind::kRegister ? possible_[operand.reg] : ~std::uint64_t{0};
}

}  // namespace lockstep::lower
