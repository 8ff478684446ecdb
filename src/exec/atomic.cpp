// What atom and red do to one element (PTX ISA 9.0, sections 9.7.13.15 and 9.7.13.16).
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "exec/decode.hpp"

namespace lockstep::exec {

namespace {

using ptx::Mod;
using ptx::Type;
using U64 = std::uint64_t;

constexpr std::uint32_t kNanF32 = 0x7fffffff;

/// A binary floating-point format inside 64 bits: `mantissa` stored bits below `exponent` bits and a sign.
template <int kExponent, int kMantissa>
struct Narrow {
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr U64 kNan = 0x7fff;  // canonical in PTX, both formats

  static double widen(U64 bits) {
    const bool negative = bits >> (kExponent + kMantissa) & 1;
    const int exponent = static_cast<int>(bits >> kMantissa & ((1u << kExponent) - 1));
    const double fraction = static_cast<double>(bits & ((1u << kMantissa) - 1));
    double value;
    if (exponent == (1 << kExponent) - 1)
      value =
          fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    else if (exponent == 0)
      value = std::ldexp(fraction, 1 - kBias - kMantissa);
    else
      value = std::ldexp(fraction + (1 << kMantissa), exponent - kBias - kMantissa);
    return negative ? -value : value;
  }

  /// To nearest even. The one rounding: a sum of two values of at most 11 bits is exact in a double, or so
  /// far apart that rounding twice gives the same (53 >= 2 * 11 + 2).
  static U64 narrow(double value) {
    if (std::isnan(value)) return kNan;
    const U64 sign = U64{std::signbit(value)} << (kExponent + kMantissa);
    const double magnitude = std::fabs(value);
    const double limit = std::ldexp(2.0 - std::ldexp(1.0, -kMantissa - 1), kBias);
    if (magnitude >= limit) return sign | (U64{(1u << kExponent) - 1} << kMantissa);
    const int exponent = magnitude == 0 ? 1 - kBias : std::max(std::ilogb(magnitude), 1 - kBias);
    const double scaled = std::nearbyint(std::ldexp(magnitude, kMantissa - exponent));
    const U64 integer = static_cast<U64>(scaled);  // with the leading bit where the value is normal
    return sign | (integer + (static_cast<U64>(exponent + kBias - 1) << kMantissa));
  }
};
using Half = Narrow<5, 10>;
using Bfloat = Narrow<8, 7>;

template <class Format, Fold kFold>
U64 fold_narrow(U64 old, U64 b, U64) {
  const double x = Format::widen(old & 0xffff), y = Format::widen(b & 0xffff);
  if constexpr (kFold == Fold::kAdd) return Format::narrow(x + y);
  return Format::narrow(min_or_max(x, y, kFold == Fold::kMin));
}

template <class Format, Fold kFold>
U64 fold_pair(U64 old, U64 b, U64 c) {
  return fold_narrow<Format, kFold>(old, b, c) | fold_narrow<Format, kFold>(old >> 16, b >> 16, c) << 16;
}

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

template <bool kFlush>
U64 add_f32(U64 old, U64 b, U64) {
  float x = std::bit_cast<float>(static_cast<std::uint32_t>(old));
  float y = std::bit_cast<float>(static_cast<std::uint32_t>(b));
  if (kFlush) x = flushed(x), y = flushed(y);
  float sum = x + y;
  if (std::isnan(sum)) return kNanF32;
  if (kFlush) sum = flushed(sum);
  return std::bit_cast<std::uint32_t>(sum);
}

U64 add_f64(U64 old, U64 b, U64) {
  const double sum = std::bit_cast<double>(old) + std::bit_cast<double>(b);
  return std::isnan(sum) ? std::bit_cast<U64>(std::numeric_limits<double>::quiet_NaN())
                         : std::bit_cast<U64>(sum);
}

template <class T>
U64 add(U64 old, U64 b, U64) {
  return static_cast<T>(old + b);
}
template <class T>
U64 least(U64 old, U64 b, U64) {
  return static_cast<std::make_unsigned_t<T>>(std::min(static_cast<T>(old), static_cast<T>(b)));
}
template <class T>
U64 greatest(U64 old, U64 b, U64) {
  return static_cast<std::make_unsigned_t<T>>(std::max(static_cast<T>(old), static_cast<T>(b)));
}
U64 bit_and(U64 old, U64 b, U64) { return old & b; }
U64 bit_or(U64 old, U64 b, U64) { return old | b; }
U64 bit_xor(U64 old, U64 b, U64) { return old ^ b; }
U64 exchange(U64, U64 b, U64) { return b; }
template <class T>
U64 swap_if_equal(U64 old, U64 b, U64 c) {
  return static_cast<T>(old) == static_cast<T>(b) ? c : old;
}
U64 wrap_up(U64 old, U64 b, U64) {
  return static_cast<std::uint32_t>(old) >= static_cast<std::uint32_t>(b)
             ? 0
             : static_cast<std::uint32_t>(old + 1);
}
U64 wrap_down(U64 old, U64 b, U64) {
  const auto x = static_cast<std::uint32_t>(old), limit = static_cast<std::uint32_t>(b);
  return x == 0 || x > limit ? limit : x - 1;
}

template <Fold kFold>
std::optional<AtomicFn> float_fold(Type type) {
  switch (type) {
    case Type::kF16:
      return fold_narrow<Half, kFold>;
    case Type::kBf16:
      return fold_narrow<Bfloat, kFold>;
    case Type::kF16x2:
      return fold_pair<Half, kFold>;
    case Type::kBf16x2:
      return fold_pair<Bfloat, kFold>;
    default:
      return std::nullopt;
  }
}

std::optional<AtomicFn> addition(Type type, bool flush) {
  if (type == Type::kF32) return flush ? add_f32<true> : add_f32<false>;
  if (type == Type::kF64) return add_f64;
  if (type == Type::kU32 || type == Type::kS32) return add<std::uint32_t>;
  if (type == Type::kU64 || type == Type::kS64) return add<U64>;
  return float_fold<Fold::kAdd>(type);
}

std::optional<AtomicFn> extreme(Type type, bool smaller) {
  switch (type) {
    case Type::kU32:
      return smaller ? least<std::uint32_t> : greatest<std::uint32_t>;
    case Type::kS32:
      return smaller ? least<std::int32_t> : greatest<std::int32_t>;
    case Type::kU64:
      return smaller ? least<U64> : greatest<U64>;
    case Type::kS64:
      return smaller ? least<std::int64_t> : greatest<std::int64_t>;
    default:
      return smaller ? float_fold<Fold::kMin>(type) : float_fold<Fold::kMax>(type);
  }
}

std::optional<AtomicFn> compare_and_swap(Type type) {
  switch (ptx::bits(type)) {
    case 16:
      return swap_if_equal<std::uint16_t>;
    case 32:
      return swap_if_equal<std::uint32_t>;
    case 64:
      return swap_if_equal<U64>;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<AtomicFn> atomic_function(const ptx::Form& form, bool flush) {
  const Type type = form.last_type();
  const unsigned bits = ptx::bits(type);
  if (bits > 64) {
    const bool known = bits == 128 && (form.has(Mod::kCas) || form.has(Mod::kExch));
    return known ? std::optional(AtomicFn{nullptr}) : std::nullopt;
  }
  if (form.has(Mod::kCas)) return compare_and_swap(type);
  if (form.has(Mod::kExch)) return exchange;
  if (form.has(Mod::kAdd)) return addition(type, flush);
  if (form.has(Mod::kMin)) return extreme(type, true);
  if (form.has(Mod::kMax)) return extreme(type, false);
  if (form.has(Mod::kInc)) return bits == 32 ? std::optional<AtomicFn>(wrap_up) : std::nullopt;
  if (form.has(Mod::kDec)) return bits == 32 ? std::optional<AtomicFn>(wrap_down) : std::nullopt;
  if (form.has(Mod::kAnd)) return bit_and;
  if (form.has(Mod::kOr)) return bit_or;
  if (form.has(Mod::kXor)) return bit_xor;
  return std::nullopt;
}

bool atomic_commutes(const ptx::Form& form) {
  const Type type = form.last_type();
  const bool whole = type == Type::kU32 || type == Type::kS32 || type == Type::kU64 || type == Type::kS64 ||
                     type == Type::kB32 || type == Type::kB64;
  return whole && (form.has(Mod::kAdd) || form.has(Mod::kMin) || form.has(Mod::kMax) || form.has(Mod::kAnd) ||
                   form.has(Mod::kOr) || form.has(Mod::kXor));
}

}  // namespace lockstep::exec
