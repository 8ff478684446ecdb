// Floating-point scalars as lane kernels read and write them: a view decodes a bits to a host number
// (exactly; `.ftz` views flush subnormals to a zero of the same sign) and encodes a result with NaN made
// canonical. NaN rules: "PTX ISA 9.0", 9.7.3: single and half precision give one canonical NaN, double
// precision keeps the payload of its first NaN.
#pragma once

#include <cmath>
#include <limits>

#include "exec/alu_lanes.hpp"

namespace lockstep::exec::alu {

inline constexpr u32 kNan32 = 0x7fffffff;
inline constexpr u16 kNan16 = 0x7fff;
/// The double-precision NaN of an invalid operation: CUDART_NAN of CUDA's math_constants.h.
inline constexpr u64 kNan64 = 0xfff8000000000000;
inline constexpr u64 kQuiet64 = 0x0008000000000000;

inline constexpr float kTiny32 = std::numeric_limits<float>::min();
inline constexpr double kTiny64 = std::numeric_limits<double>::min();

// On bits, as selections of integers vectorise under -frounding-math too.
constexpr bool is_nan(double x) { return std::bit_cast<u64>(x) << 1 > 0xffe0000000000000; }
constexpr bool is_nan(float x) { return std::bit_cast<u32>(x) << 1 > 0xff000000; }
constexpr float flushed(float x) {
  const u32 bits = std::bit_cast<u32>(x);
  return std::bit_cast<float>((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}
constexpr float canonical(float x) {
  return std::bit_cast<float>(is_nan(x) ? kNan32 : std::bit_cast<u32>(x));
}

/// Exponent and mantissa are looked at in their places of a float: compilers then keep to 32-bit vectors.
constexpr float half_to_float(u16 half) {
  const u32 sign = u32{half} << 16 & 0x80000000, rest = u32{half} << 13 & 0x0fffe000;
  const u32 normal = rest + (112u << 23);
  const u32 special = rest | 0x7f800000;
  const auto size = static_cast<s32>(rest);
  const u32 subnormal = std::bit_cast<u32>(static_cast<float>(size) * 0x1p-37f);
  return std::bit_cast<float>(sign | (size >= 31 << 23 ? special : size < 1 << 23 ? subnormal : normal));
}
constexpr float bf16_to_float(u16 bits) { return std::bit_cast<float>(u32{bits} << 16); }

/// x + y rounded to odd: exact, or the neighbour whose last bit is 1. A further rounding to a format with at
/// least two bits less is then correct in every mode (Boldo and Melquiond, "Emulation of FMA and correctly
/// rounded sums", IEEE TC 2008).
template <class T>
constexpr T add_to_odd(T x, T y) {
  using Bits = std::conditional_t<std::is_same_v<T, float>, u32, u64>;
  constexpr Bits kTwiceInfinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity()) << 1;
  const T sum = x + y;
  const T back = sum - x;
  const T error = (x - (sum - back)) + (y - back);
  const Bits bits = std::bit_cast<Bits>(sum), difference = std::bit_cast<Bits>(error);
  // Without branches, so that the loop over lanes vectorises. Neither zero, infinite nor NaN:
  const Bits inexact = static_cast<Bits>((difference << 1) - 1 < kTwiceInfinity - 1) & ~bits & 1;
  const Bits away = (difference ^ bits) >> (8 * sizeof(T) - 1);
  return std::bit_cast<T>(bits + inexact - 2 * (inexact & away));
}

/// A finite or infinite double to a 16-bit format, to nearest even; NaN becomes canonical. kMantissa bits are
/// stored, kBias is the exponent's bias.
template <int kMantissa, int kBias>
constexpr u16 round_to_16(double x) {
  const u64 bits = std::bit_cast<u64>(x);
  const u16 sign = static_cast<u16>(bits >> 48 & 0x8000);
  const u64 magnitude = bits & 0x7fffffffffffffff;
  constexpr u64 kInfinity = (u64{1} << 15) - (u64{1} << kMantissa);
  if (magnitude > 0x7ff0000000000000) return kNan16;
  const int exponent = static_cast<int>(magnitude >> 52) - 1023 + kBias;
  if (exponent >= static_cast<int>(kInfinity >> kMantissa)) return static_cast<u16>(sign | kInfinity);
  const u64 significand = (magnitude & 0x000fffffffffffff) | (u64{1} << 52);
  const int drop = 52 - kMantissa + (exponent < 1 ? 1 - exponent : 0);
  if (magnitude >> 52 == 0 || drop > 54) return sign;
  const u64 kept = significand >> drop, rest = significand & ((u64{1} << drop) - 1),
            half = u64{1} << (drop - 1);
  const u64 up = rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0;
  const u64 base = exponent < 1 ? kept : kept + (static_cast<u64>(exponent - 1) << kMantissa);
  return static_cast<u16>(sign | (base + up));
}

/// The same for half precision from single: without branches and in 32 bits, for loops over lanes.
constexpr u16 round_to_half(float x) {
  constexpr u32 kOverflow = 0x477ff000;                    // 65520, half-way to what would be 2^16
  constexpr u32 kNormal = 0x38800000, kHalf = 0x3f000000;  // 2^-14; 0.5, whose last bit is 2^-24
  const u32 bits = std::bit_cast<u32>(x), size = bits & 0x7fffffff;
  const u32 normal = (size + 0xfff + (size >> 13 & 1) - (112u << 23)) >> 13;
  const u32 tiny = std::bit_cast<u32>(std::bit_cast<float>(size) + 0.5f) - kHalf;
  const u32 finite = size < kNormal ? tiny : normal;
  const u32 large = size > 0x7f800000 ? u32{kNan16} : u32{0x7c00};
  const u32 sign = size > 0x7f800000 ? 0 : bits >> 16 & 0x8000;
  return static_cast<u16>(sign | (size < kOverflow ? finite : large));
}
/// The same for bfloat16 from double: to odd in single precision, of which bfloat16 is the upper half.
constexpr u16 round_to_bf16(double x) {
  const float nearest = static_cast<float>(x);
  const u32 bits = std::bit_cast<u32>(nearest), size = bits & 0x7fffffff;
  const double back = nearest;
  const u64 exact = std::bit_cast<u64>(x) & 0x7fffffffffffffff,
            found = std::bit_cast<u64>(back) & 0x7fffffffffffffff;
  const u32 odd = (size - static_cast<u32>(found > exact)) | static_cast<u32>(found != exact);
  const u32 rounded = (odd + 0x7fff + (odd >> 16 & 1)) >> 16;
  return static_cast<u16>(size > 0x7f800000 ? u32{kNan16} : (bits >> 16 & 0x8000) | rounded);
}

/// From single precision.
constexpr u16 round_to_bf16(float x) {
  const u32 bits = std::bit_cast<u32>(x);
  const u32 rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return static_cast<u16>((bits & 0x7fffffff) > 0x7f800000 ? u32{kNan16} : rounded);
}

// Views. `value` is what arithmetic is done on.
struct F32 {
  float value;
};
struct F32Ftz {
  float value;
};
struct F64 {
  double value;
};
struct F16 {
  float value;
};
struct F16Ftz {
  float value;
};
struct Bf16 {
  float value;
};
struct Bf16Ftz {
  float value;
};

template <>
constexpr F32 from_bits<F32>(u64 bits) {
  return {from_bits<float>(bits)};
}
template <>
constexpr F32Ftz from_bits<F32Ftz>(u64 bits) {
  return {flushed(from_bits<float>(bits))};
}
template <>
constexpr F64 from_bits<F64>(u64 bits) {
  return {from_bits<double>(bits)};
}
template <>
constexpr F16 from_bits<F16>(u64 bits) {
  return {half_to_float(static_cast<u16>(bits))};
}
template <>
constexpr F16Ftz from_bits<F16Ftz>(u64 bits) {
  return {half_to_float((bits & 0x7c00) == 0 ? static_cast<u16>(bits & 0x8000) : static_cast<u16>(bits))};
}
template <>
constexpr Bf16Ftz from_bits<Bf16Ftz>(u64 bits) {
  return {flushed(bf16_to_float(static_cast<u16>(bits)))};
}
template <>
constexpr Bf16 from_bits<Bf16>(u64 bits) {
  return {bf16_to_float(static_cast<u16>(bits))};
}

/// What is done to a result after rounding.
enum class Post {
  kNone,
  kSat,   ///< clamped to [0, 1]; NaN gives +0
  kRelu,  ///< negative values give +0; NaN stays
};

template <Post kPost, class T>
constexpr T after(T x) {
  if constexpr (kPost == Post::kSat) return x > 0 ? (x < 1 ? x : T{1}) : T{0};
  if constexpr (kPost == Post::kRelu) return x > 0 || is_nan(x) ? x : T{0};
  return x;
}

/// The payload of the first NaN among the operands, quiet, or else the NaN of an invalid operation.
constexpr u64 payload() { return kNan64; }
template <class... D>
constexpr u64 payload(double first, D... rest) {
  return is_nan(first) ? std::bit_cast<u64>(first) | kQuiet64 : payload(rest...);
}
template <class... D>
constexpr double with_payload(double result, D... operands) {
  const u64 nan = payload(operands...);
  return std::bit_cast<double>(is_nan(result) ? nan : std::bit_cast<u64>(result));
}

/// An unrounded or rounded result as the bits that the view's format has; `operands` are for NaN payloads.
template <class View, Post kPost, class R, class... Operands>
constexpr auto finish(R result, Operands... operands) {
  if constexpr (std::is_same_v<View, F64>) {
    return with_payload(after<kPost>(result), operands.value...);
  } else if constexpr (std::is_same_v<View, F32>) {
    return canonical(after<kPost>(result));
  } else if constexpr (std::is_same_v<View, F32Ftz>) {
    return flushed(canonical(after<kPost>(result)));
  } else if constexpr (std::is_same_v<View, Bf16> || std::is_same_v<View, Bf16Ftz>) {
    const u16 bits = round_to_bf16(after<kPost>(double{result}));
    return std::is_same_v<View, Bf16Ftz> && (bits & 0x7f80) == 0 ? static_cast<u16>(bits & 0x8000) : bits;
  } else {
    u16 bits = 0;
    if constexpr (std::is_same_v<R, float>)
      bits = round_to_half(after<kPost>(result));
    else
      bits = round_to_16<10, 15>(after<kPost>(double{result}));
    return std::is_same_v<View, F16Ftz> && (bits & 0x7c00) == 0 ? static_cast<u16>(bits & 0x8000) : bits;
  }
}

/// Type in which the arithmetic of a view is done: 16-bit formats in double, where products and sums rounded
/// to odd are exact enough.
template <class View>
using Arithmetic =
    std::conditional_t<std::is_same_v<View, F32> || std::is_same_v<View, F32Ftz>, float, double>;

/// A function of one, two or three views on both elements of a pack.
template <class View, class Whole, class Op>
struct Pack {
  static constexpr int kWidth = 4 * sizeof(Whole);
  template <class... W>
  static Whole both(W... operands) {
    const Whole low = static_cast<Whole>(to_bits(Op::apply(from_bits<View>(operands)...)));
    const Whole high = static_cast<Whole>(to_bits(Op::apply(from_bits<View>(operands >> kWidth)...)));
    return static_cast<Whole>(low | high << kWidth);
  }
  static Whole unary(Whole a) { return both(a); }
  static Whole binary(Whole a, Whole b) { return both(a, b); }
  static Whole ternary(Whole a, Whole b, Whole c) { return both(a, b, c); }
};

}  // namespace lockstep::exec::alu
