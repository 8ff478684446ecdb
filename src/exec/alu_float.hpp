// Floating-point scalars as lane kernels read and write them: a view decodes a slot to a host number
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

constexpr bool is_nan(double x) { return x != x; }
constexpr bool is_nan(float x) { return x != x; }
constexpr float flushed(float x) {
  const u32 bits = std::bit_cast<u32>(x);
  return std::bit_cast<float>((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}
constexpr float canonical(float x) { return is_nan(x) ? std::bit_cast<float>(kNan32) : x; }

constexpr float half_to_float(u16 half) {
  const u32 sign = u32{half} << 16 & 0x80000000, rest = half & 0x7fff;
  const u32 normal = (rest << 13) + (112u << 23);
  const u32 special = (rest << 13) | 0x7f800000;
  const u32 subnormal = std::bit_cast<u32>(static_cast<float>(static_cast<s32>(rest)) * 0x1p-24f);
  return std::bit_cast<float>(sign | (rest >= 0x7c00 ? special : rest < 0x0400 ? subnormal : normal));
}
constexpr float bf16_to_float(u16 bits) { return std::bit_cast<float>(u32{bits} << 16); }

/// x + y rounded to odd: exact, or the neighbour whose last bit is 1. A further rounding to a format with at
/// least two bits less is then correct in every mode (Boldo and Melquiond, "Emulation of FMA and correctly
/// rounded sums", IEEE TC 2008).
constexpr double add_to_odd(double x, double y) {
  const double sum = x + y;
  const double back = sum - x;
  const double error = (x - (sum - back)) + (y - back);
  const u64 bits = std::bit_cast<u64>(sum);
  const bool inexact = error != 0 && (bits & 1) == 0 && std::bit_cast<u64>(error) << 1 < 0xffe0000000000000;
  const u64 step = (std::bit_cast<u64>(error) ^ bits) >> 63 != 0 ? ~u64{0} : 1;
  return std::bit_cast<double>(inexact ? bits + step : bits);
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

template <>
constexpr F32 from_slot<F32>(u64 slot) {
  return {from_slot<float>(slot)};
}
template <>
constexpr F32Ftz from_slot<F32Ftz>(u64 slot) {
  return {flushed(from_slot<float>(slot))};
}
template <>
constexpr F64 from_slot<F64>(u64 slot) {
  return {from_slot<double>(slot)};
}
template <>
constexpr F16 from_slot<F16>(u64 slot) {
  return {half_to_float(static_cast<u16>(slot))};
}
template <>
constexpr F16Ftz from_slot<F16Ftz>(u64 slot) {
  return {half_to_float((slot & 0x7c00) == 0 ? static_cast<u16>(slot & 0x8000) : static_cast<u16>(slot))};
}
template <>
constexpr Bf16 from_slot<Bf16>(u64 slot) {
  return {bf16_to_float(static_cast<u16>(slot))};
}

}  // namespace lockstep::exec::alu
