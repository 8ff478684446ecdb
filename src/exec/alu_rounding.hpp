// Rounding of a number to any binary floating-point format, by integer arithmetic.
#pragma once

#include <cmath>

#include "exec/alu_float.hpp"

namespace lockstep::exec::alu {

enum class Round : u8 { kNearest, kZero, kDown, kUp, kAway };  // kAway: to nearest, ties away from zero

/// A format with `mantissa` stored bits. `finite` is the greatest finite magnitude's bits; `overflow` those
/// that a magnitude beyond it gets, where rounding does not stop at the greatest finite one.
struct FormatSpec {
  int mantissa, bias;
  u64 finite, overflow, nan, sign;
};
constexpr FormatSpec ieee(int exponent_bits, int mantissa, u64 nan) {
  const u64 infinity = ((u64{1} << exponent_bits) - 1) << mantissa;
  return {mantissa, (1 << (exponent_bits - 1)) - 1,      infinity - 1, infinity,
          nan,      u64{1} << (exponent_bits + mantissa)};
}
inline constexpr FormatSpec kSpecF16 = ieee(5, 10, kNan16), kSpecBf16 = ieee(8, 7, kNan16),
                            kSpecTf32 = ieee(8, 10, kNan32 >> 13), kSpecF32 = ieee(8, 23, kNan32),
                            kSpecF64 = ieee(11, 52, kNan64), kSpecE5m2 = ieee(5, 2, 0x7f);
/// No infinities: 0x7e is 448 and 0x7f NaN ("FP8 Formats for Deep Learning", Micikevicius et al. 2022, table
/// 1).
inline constexpr FormatSpec kSpecE4m3{3, 7, 0x7e, 0x7f, 0x7f, 0x80};

/// (-1)^negative * magnitude * 2^exponent in the format.
constexpr u64 round_number(bool negative, u64 magnitude, int exponent, const FormatSpec& format,
                           Round round) {
  const u64 sign = negative ? format.sign : 0;
  if (magnitude == 0) return sign;
  const int zeros = std::countl_zero(magnitude);
  const u64 m = magnitude << zeros;
  const int biased = exponent + 63 - zeros + format.bias;
  const int drop = 63 - format.mantissa + (biased < 1 ? 1 - biased : 0);
  const u64 kept = drop >= 64 ? 0 : m >> drop;
  // What is cut off, as a fraction of the last place: 2^63 is a half; beyond 64 places it is less than any
  // half.
  const u64 rest = drop > 64 ? 1 : drop == 64 ? m : m << (64 - drop);
  constexpr u64 kHalf = u64{1} << 63;
  bool up = false;
  switch (round) {
    case Round::kNearest:
      up = rest > kHalf || (rest == kHalf && (kept & 1) != 0);
      break;
    case Round::kAway:
      up = rest >= kHalf;
      break;
    case Round::kZero:
      break;
    case Round::kDown:
      up = rest != 0 && negative;
      break;
    case Round::kUp:
      up = rest != 0 && !negative;
      break;
  }
  const bool stops =
      round == Round::kZero || (round == Round::kDown && !negative) || (round == Round::kUp && negative);
  if (biased > 0 && static_cast<u64>(biased) > format.overflow >> format.mantissa)
    return sign | (stops ? format.finite : format.overflow);
  const u64 base = biased < 1 ? kept : kept + (static_cast<u64>(biased - 1) << format.mantissa);
  const u64 bits = base + (up ? 1 : 0);
  return sign | (bits > format.finite ? (stops ? format.finite : format.overflow) : bits);
}

/// A double in the format; NaN becomes the format's.
constexpr u64 round_double(double x, const FormatSpec& format, Round round) {
  const u64 bits = std::bit_cast<u64>(x);
  const bool negative = bits >> 63 != 0;
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  const u64 mantissa = bits & 0x000fffffffffffff;
  if (field == 0x7ff) return mantissa != 0 ? format.nan : (negative ? format.sign : 0) | format.overflow;
  return round_number(negative, field == 0 ? mantissa : mantissa | u64{1} << 52,
                      (field == 0 ? 1 : field) - 1075, format, round);
}

/// x rounded to an integral value.
inline double integral(double x, Round round) {
  switch (round) {
    case Round::kZero:
      return std::trunc(x);
    case Round::kDown:
      return std::floor(x);
    case Round::kUp:
      return std::ceil(x);
    default:
      return std::nearbyint(x);
  }
}

}  // namespace lockstep::exec::alu
