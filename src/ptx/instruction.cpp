#include "ptx/instruction.hpp"

#include <bit>

namespace lockstep::ptx {
namespace {

constexpr unsigned kByForm = 255;
constexpr std::uint8_t kDestinations[] = {
#define OPCODE(name, text, destinations) destinations,
#include "ptx/table_opcodes.inc"
#undef OPCODE
};

/// binary64 to binary16, round to nearest even, in one step.
std::uint16_t to_half(double value) {
  const std::uint64_t pattern = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>(pattern >> 48 & 0x8000);
  const int exponent = static_cast<int>(pattern >> 52 & 0x7ff) - 1023;
  const std::uint64_t fraction = pattern & 0xfffffffffffff;
  if (exponent == 1024)
    return static_cast<std::uint16_t>(sign | 0x7c00 | (fraction ? 0x200 | fraction >> 42 : 0));
  if (exponent > 15) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (exponent < -25) return sign;
  // The significand with its hidden bit, cut to 11 bits, or fewer for a denormal result.
  const unsigned drop = exponent >= -14 ? 42 : static_cast<unsigned>(42 - 14 - exponent);
  const std::uint64_t significand = fraction | 0x10000000000000;
  std::uint64_t kept = significand >> drop;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << drop) - 1),
                      half = std::uint64_t{1} << (drop - 1);
  if (rest > half || (rest == half && (kept & 1))) ++kept;
  const std::uint64_t biased = exponent >= -14 ? static_cast<std::uint64_t>(exponent + 14) << 10 : 0;
  return static_cast<std::uint16_t>(sign | (biased + kept));
}

double literal_value(const Operand& o) {
  if (o.literal == Literal::kFloat32) return std::bit_cast<float>(static_cast<std::uint32_t>(o.bits));
  return std::bit_cast<double>(o.bits);
}

}  // namespace

std::optional<std::uint64_t> immediate_bits(const Operand& o, Type type) {
  const bool is_integer = o.literal == Literal::kSigned || o.literal == Literal::kUnsigned;
  const unsigned width = bits(type);
  const std::uint64_t mask = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  if (is_integer) {
    if (is_float(type)) return std::nullopt;
    if (type == Type::kPred) return o.bits != 0;
    return o.bits & mask;
  }
  switch (type) {
    case Type::kF64:
      return std::bit_cast<std::uint64_t>(literal_value(o));
    case Type::kF32:
    case Type::kTf32:
      if (o.literal == Literal::kFloat32) return o.bits;
      return std::bit_cast<std::uint32_t>(static_cast<float>(literal_value(o)));
    case Type::kF16:
      return to_half(literal_value(o));
    case Type::kB32:  // nvcc moves float patterns by .b32 and .b64
      return o.literal == Literal::kFloat32 ? std::optional(o.bits) : std::nullopt;
    case Type::kB64:
      return o.literal == Literal::kFloat64 ? std::optional(o.bits) : std::nullopt;
    default:
      return std::nullopt;
  }
}

unsigned destination_count(const Form& form) {
  const unsigned fixed = kDestinations[static_cast<std::size_t>(form.op)];
  if (fixed != kByForm) return fixed;
  switch (form.op) {
    case Opcode::kBar:
    case Opcode::kBarrier:
      return form.has(Mod::kRed);
    case Opcode::kMbarrier:
      return form.has(Mod::kArrive) || form.has(Mod::kArriveDrop) || form.has(Mod::kTestWait) ||
             form.has(Mod::kTryWait) || form.has(Mod::kPendingCount);
    case Opcode::kMultimem:
      return form.has(Mod::kLdReduce);
    case Opcode::kClusterlaunchcontrol:
      return form.has(Mod::kQueryCancel);
    case Opcode::kTcgen05:
      return form.has(Mod::kLd) ? 1 + form.has(Mod::kRed) : 0;
    case Opcode::kWgmma:
      return form.has(Mod::kMmaAsync);
    case Opcode::kWmma:
      return !form.has(Mod::kStore);
    default:
      return 0;
  }
}

}  // namespace lockstep::ptx
