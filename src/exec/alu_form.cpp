#include "exec/alu_form.hpp"

#include <algorithm>

namespace lockstep::exec {
namespace {

std::string text(const ptx::Form& form) {
  std::string out(ptx::name(form.op));
  std::size_t types = 0, mods = 0;
  for (const ptx::Form::Word word : form.order) {
    if (word == ptx::Form::Word::kType) out += "." + std::string(ptx::name(form.types[types++]));
    if (word == ptx::Form::Word::kMod) out += "." + std::string(ptx::name(form.mods[mods++]));
    if (word == ptx::Form::Word::kShape)
      out += ".m" + std::to_string(form.shape.m) + "n" + std::to_string(form.shape.n) + "k" +
             std::to_string(form.shape.k);
  }
  return out;
}

}  // namespace

FormError::FormError(const ptx::Instruction& instruction, const std::string& why)
    : UserError("line " + std::to_string(instruction.place.line) + ": " + text(instruction.form) + ": " +
                why),
      line_(instruction.place.line),
      message_(text(instruction.form) + ": " + why) {}

}  // namespace lockstep::exec

namespace lockstep::exec::alu {

bool has_wide_lanes() {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                           __builtin_cpu_supports("popcnt");
  return wide;
#else
  return false;
#endif
}

namespace {

bool is_group(const Operand& operand) {
  return operand.kind == OperandKind::kVector || operand.kind == OperandKind::kPair;
}

}  // namespace

LaneOp Kernel::op(u64 immediate) const {
  return {has_wide_lanes() ? wide : base, immediate, destinations, sources};
}

const Kernel& ByInteger::of(Type type) const {
  static constexpr Kernel kNone{};
  switch (type) {
    case Type::kU16:
    case Type::kB16:
      return u16;
    case Type::kS16:
      return s16;
    case Type::kU32:
    case Type::kB32:
      return u32;
    case Type::kS32:
      return s32;
    case Type::kU64:
    case Type::kB64:
      return u64;
    case Type::kS64:
      return s64;
    case Type::kU16x2:
      return u16x2;
    case Type::kS16x2:
      return s16x2;
    default:
      return kNone;
  }
}

Form::Form(const ptx::Instruction& instruction, unsigned destination_bits)
    : in_(&instruction), destination_bits_(destination_bits) {
  const std::size_t written = ptx::destination_count(instruction.form);
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const Operand& operand = instruction.operands[i];
    if (i < written) {
      destinations_ += is_group(operand) ? static_cast<int>(operand.elements.size()) : 1;
    } else if (is_group(operand)) {
      for (const Operand& element : operand.elements) sources_.push_back(&element);
    } else {
      sources_.push_back(&operand);
    }
  }
}

Type Form::type(std::size_t i) const {
  if (i >= types()) fail("a type is missing");
  return in_->form.types[i];
}

unsigned Form::only(std::span<const ModBit> allowed) const {
  unsigned bits = 0;
  for (const Mod mod : mods()) {
    const auto found =
        std::find_if(allowed.begin(), allowed.end(), [&](const ModBit& m) { return m.mod == mod; });
    if (found == allowed.end()) fail("'." + std::string(ptx::name(mod)) + "' does not belong here");
    bits |= found->bit;
  }
  return bits;
}

const Operand& Form::source(std::size_t i) const {
  if (i >= sources_.size()) fail("an operand is missing");
  return *sources_[i];
}

u64 Form::constant(std::size_t i) const {
  if (source(i).kind != OperandKind::kImmediate)
    fail("operand " + std::to_string(i + 1) + " must be a constant");
  return source(i).bits;
}

LaneOp Form::use(const Kernel& kernel, u64 immediate, int constants) const {
  if (!kernel) fail("not an instruction for this type");
  if (destinations_ > kernel.destinations || destinations_ == 0)
    fail("has " + std::to_string(destinations_) + " destinations, expected " +
         std::to_string(kernel.destinations));
  if (sources() != kernel.sources + constants)
    fail("has " + std::to_string(sources()) + " sources, expected " +
         std::to_string(kernel.sources + constants));
  return kernel.op(immediate);
}

void Form::fail(const std::string& why) const { throw FormError(*in_, why); }

}  // namespace lockstep::exec::alu
