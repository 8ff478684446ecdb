#include "tests/lower/interpreter.hpp"

#include <algorithm>
#include <stdexcept>

namespace lockstep::lower::test {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;

std::uint64_t ByteMemory::load(bool shared, std::uint64_t address, unsigned bytes) const {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) {
    const auto found = written_.find({shared, address + i});
    const std::uint64_t noise = (address + i + (shared ? 77 : 0)) * 0x9e3779b97f4a7c15;
    const std::uint64_t byte = found == written_.end() ? noise >> 40 & 0xff : found->second;
    value |= byte << 8 * i;
  }
  return value;
}

void ByteMemory::store(bool shared, std::uint64_t address, unsigned bytes, std::uint64_t value) {
  for (unsigned i = 0; i < bytes; ++i)
    written_[{shared, address + i}] = static_cast<std::uint8_t>(value >> 8 * i);
}

const ByteMemory& Interpreter::run() {
  constexpr unsigned kMaxSteps = 100'000;
  std::uint32_t at = 0;
  for (unsigned step = 0; step < kMaxSteps; ++step) {
    const ptx::Instruction& i = function_.instructions.at(at);
    if (i.op() == Opcode::kRet) return memory_;
    if (i.op() == Opcode::kBra && !guarded_out(i)) {
      at = function_.labels.at(i.operands.at(0).index).instruction;
      continue;
    }
    if (i.op() != Opcode::kBra && i.op() != Opcode::kPmevent) execute(at);
    ++at;
  }
  throw std::runtime_error("the function does not end");
}

bool Interpreter::guarded_out(const ptx::Instruction& i) {
  return i.guard && (registers_.read(i.guard->reg) != 0) == i.guard->negated;
}

std::uint64_t Interpreter::operand(const ptx::Operand& o) {
  if (o.kind == OperandKind::kImmediate) return o.bits;
  if (o.kind == OperandKind::kRegister) {
    const std::uint64_t value = registers_.read(o.reg);
    return o.negated ? static_cast<std::uint64_t>(value == 0) : value;
  }
  throw std::runtime_error("an operand that the test's interpreter does not know");
}

std::uint64_t Interpreter::result(const ptx::Instruction& i) {
  const auto in = [&](std::size_t n) { return operand(i.operands.at(n)); };
  const unsigned bits = ptx::bits(i.form.type());
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const bool is_signed = ptx::is_signed(i.form.type());
  const auto extended = [&](std::uint64_t v) {  // to 64 bits, as the type says
    return bits == 32 && is_signed ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(v)})
                                   : v & mask;
  };
  switch (i.op()) {
    case Opcode::kAdd:
      return (in(1) + in(2)) & mask;
    case Opcode::kSub:
      return (in(1) - in(2)) & mask;
    case Opcode::kNeg:
      return (0 - in(1)) & mask;
    case Opcode::kAnd:
      return in(1) & in(2) & mask;
    case Opcode::kOr:
      return (in(1) | in(2)) & mask;
    case Opcode::kXor:
      return (in(1) ^ in(2)) & mask;
    case Opcode::kNot:
      return ~in(1) & mask;
    case Opcode::kShl:
      return in(2) >= bits ? 0 : in(1) << in(2) & mask;
    case Opcode::kShr:
      if (!is_signed) return in(2) >= bits ? 0 : (in(1) & mask) >> in(2);
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(extended(in(1))) >>
                                        std::min<std::uint64_t>(in(2), bits - 1)) &
             mask;
    case Opcode::kMul:
      return i.has(Mod::kWide) ? extended(in(1)) * extended(in(2)) : in(1) * in(2) & mask;
    case Opcode::kMad:
      return (in(1) * in(2) + in(3)) & mask;
    case Opcode::kSelp:
      return in(3) != 0 ? in(1) : in(2);
    case Opcode::kSetp: {
      const std::uint64_t a = extended(in(1)), b = extended(in(2));
      if (i.has(Mod::kEq)) return a == b;
      if (i.has(Mod::kNe)) return a != b;
      const auto less = [&](std::uint64_t x, std::uint64_t y) {
        return is_signed ? static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y) : x < y;
      };
      if (i.has(Mod::kGt)) return less(b, a);
      if (i.has(Mod::kGe)) return !less(a, b);
      if (i.has(Mod::kLe)) return !less(b, a);
      if (i.has(Mod::kLt)) return less(a, b);
      throw std::runtime_error("a comparison that the test's interpreter does not know");
    }
    case Opcode::kCvt: {
      const ptx::Type from = i.form.last_type();
      const std::uint64_t v = in(1);
      if (bits == 64 && ptx::bits(from) == 32 && ptx::is_signed(from))
        return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(v)});
      return ptx::bits(from) == 32 ? v & 0xffffffff : v & mask;
    }
    default:
      throw std::runtime_error("an instruction that the test's interpreter does not know");
  }
}

void Interpreter::apply(const ptx::Instruction& i) {
  if (guarded_out(i)) return;
  switch (i.op()) {
    case Opcode::kLd:
    case Opcode::kSt:
      return access(i, i.op() == Opcode::kSt);
    case Opcode::kMov:
      return move(i);
    default:
      registers_.write(i.operands.at(0).reg, result(i));
  }
}

void Interpreter::access(const ptx::Instruction& i, bool store) {
  const ptx::Operand &address = i.operands.at(store ? 0 : 1), &data = i.operands.at(store ? 1 : 0);
  const bool shared = i.form.space() == ptx::Space::kShared;
  const unsigned bytes = ptx::bytes(i.form.last_type());
  std::uint64_t at = 0x1000000 + address.symbol.id * 0x10000;  // a parameter: its own value, far from all
  if (address.base == ptx::AddressBase::kRegister) at = address_register(address.reg);
  if (address.base == ptx::AddressBase::kSymbol && !store)
    return registers_.write(data.reg, (std::uint64_t{address.symbol.id} << 3) + 0x70000000);
  at += static_cast<std::uint64_t>(address.offset);
  const auto one = [&](const ptx::Operand& o, std::uint64_t where) {
    if (store)
      memory_.store(shared, where, bytes, operand(o));
    else
      registers_.write(o.reg, memory_.load(shared, where, bytes));
  };
  if (data.kind != OperandKind::kVector) return one(data, at);
  for (std::size_t e = 0; e < data.elements.size(); ++e) one(data.elements[e], at + e * bytes);
}

void Interpreter::move(const ptx::Instruction& i) {
  const ptx::Operand &to = i.operands.at(0), &from = i.operands.at(1);
  if (to.kind != OperandKind::kRegister && to.kind != OperandKind::kVector) return;  // lower::nothing_of()
  if (to.kind == OperandKind::kVector) {
    const std::uint64_t whole = operand(from);
    registers_.write(to.elements.at(0).reg, whole & 0xffffffff);
    registers_.write(to.elements.at(1).reg, whole >> 32);
  } else if (from.kind == OperandKind::kVector) {
    registers_.write(to.reg, operand(from.elements.at(0)) | operand(from.elements.at(1)) << 32);
  } else {
    const std::uint64_t value = operand(from);
    registers_.write(to.reg, ptx::bits(i.form.type()) == 64 ? value : value & 0xffffffff);
  }
}

}  // namespace lockstep::lower::test
