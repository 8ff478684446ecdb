#include "tests/exec_alu/exact.hpp"

#include <algorithm>

namespace lockstep::test {
namespace {

Exact make_nan() {
  Exact out;
  out.nan = true;
  return out;
}
Exact make_infinity(bool negative) {
  Exact out;
  out.infinite = true;
  out.negative = negative;
  return out;
}

/// magnitude * 2^exponent to a multiple of 2^quantum, as that multiple.
Big rounded(const Exact& value, int quantum, Rounding rounding) {
  const int shift = quantum - value.exponent;
  if (shift <= 0) return value.magnitude << -shift;  // exact, or sticky far below
  const Big kept = value.magnitude >> shift;
  const Big rest = value.magnitude - (kept << shift);
  const Big half = Big(1) << (shift - 1);
  const bool inexact = rest != 0 || value.sticky;
  const bool above = rest > half || (rest == half && value.sticky), tie = rest == half && !value.sticky;
  bool up = false;
  switch (rounding) {
    case Rounding::kNearest:
      up = above || (tie && (kept & 1) != 0);
      break;
    case Rounding::kAway:
      up = above || tie;
      break;
    case Rounding::kZero:
      break;
    case Rounding::kDown:
      up = inexact && value.negative;
      break;
    case Rounding::kUp:
      up = inexact && !value.negative;
      break;
  }
  return up ? kept + 1 : kept;
}

}  // namespace

Exact decode(std::uint64_t bits, Format format) {
  Exact out;
  out.negative = (bits & format.sign_bit()) != 0;
  const std::uint64_t exponent = bits >> format.mantissa_bits & format.top();
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  if (format.ieee && exponent == format.top()) {
    out.nan = mantissa != 0;
    out.infinite = mantissa == 0;
    return out;
  }
  const int unit = 1 - format.bias() - format.mantissa_bits;
  out.magnitude = exponent == 0 ? Big(mantissa) : Big(mantissa | std::uint64_t{1} << format.mantissa_bits);
  out.exponent = exponent == 0 ? unit : unit + static_cast<int>(exponent) - 1;
  return out;
}

Exact from_integer(const Big& value) {
  Exact out;
  out.negative = value < 0;
  out.magnitude = value < 0 ? Big(-value) : value;
  return out;
}

std::uint64_t encode(const Exact& value, Format format, Rounding rounding, std::uint64_t nan) {
  if (value.nan) return nan;
  const std::uint64_t sign = value.negative ? format.sign_bit() : 0;
  if (value.infinite) return sign | format.infinity();
  if (value.zero()) return sign;
  // At least 80 bits, so that a sticky part is below any quantum.
  Exact wide = value;
  wide.magnitude <<= 80;
  wide.exponent -= 80;
  const int unit = 1 - format.bias() - format.mantissa_bits;
  const int top = wide.magnitude == 0 ? unit : static_cast<int>(msb(wide.magnitude)) + wide.exponent;
  int quantum = std::max(unit, top - format.mantissa_bits);
  Big kept = rounded(wide, quantum, rounding);
  if ((kept >> (format.mantissa_bits + 1)) != 0) {
    kept >>= 1;
    ++quantum;
  }
  const std::uint64_t exponent_field =
      (kept >> format.mantissa_bits) == 0 ? 0 : static_cast<std::uint64_t>(quantum - unit + 1);
  if (exponent_field >= format.top()) {
    const bool to_infinity = rounding == Rounding::kNearest || rounding == Rounding::kAway ||
                             (rounding == Rounding::kUp && !value.negative) ||
                             (rounding == Rounding::kDown && value.negative);
    return sign | (to_infinity ? format.infinity() : format.infinity() - 1);
  }
  const std::uint64_t mantissa =
      static_cast<std::uint64_t>(kept) & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  return sign | exponent_field << format.mantissa_bits | mantissa;
}

Exact negate(Exact a) {
  a.negative = !a.negative;
  return a;
}

Exact add(const Exact& a, const Exact& b, Rounding rounding) {
  if (a.nan || b.nan || (a.infinite && b.infinite && a.negative != b.negative)) return make_nan();
  if (a.infinite) return a;
  if (b.infinite) return b;
  const int exponent = std::min(a.exponent, b.exponent);
  const Big x = (a.negative ? Big(-a.magnitude) : a.magnitude) << (a.exponent - exponent);
  const Big y = (b.negative ? Big(-b.magnitude) : b.magnitude) << (b.exponent - exponent);
  Exact out = from_integer(x + y);
  out.exponent = exponent;
  if (out.magnitude == 0) out.negative = a.negative == b.negative ? a.negative : rounding == Rounding::kDown;
  return out;
}

Exact multiply(const Exact& a, const Exact& b) {
  if (a.nan || b.nan || (a.infinite && b.zero()) || (a.zero() && b.infinite)) return make_nan();
  const bool negative = a.negative != b.negative;
  if (a.infinite || b.infinite) return make_infinity(negative);
  Exact out;
  out.negative = negative;
  out.magnitude = a.magnitude * b.magnitude;
  out.exponent = a.exponent + b.exponent;
  return out;
}

Exact divide(const Exact& a, const Exact& b) {
  if (a.nan || b.nan || (a.infinite && b.infinite) || (a.zero() && b.zero())) return make_nan();
  const bool negative = a.negative != b.negative;
  if (a.infinite || b.zero()) return make_infinity(negative);
  Exact out;
  out.negative = negative;
  if (b.infinite) return out;
  const Big numerator = a.magnitude << 250;
  out.magnitude = numerator / b.magnitude;
  out.sticky = out.magnitude * b.magnitude != numerator;
  out.exponent = a.exponent - b.exponent - 250;
  return out;
}

Exact square_root(const Exact& a) {
  if (a.nan || (a.negative && !a.zero())) return make_nan();
  if (a.infinite || a.zero()) return a;
  const int shift = 300 + (a.exponent & 1);
  const Big scaled = a.magnitude << shift;
  Exact out;
  Big rest;
  out.magnitude = boost::multiprecision::sqrt(scaled, rest);
  out.sticky = rest != 0;
  out.exponent = (a.exponent - shift) / 2;
  return out;
}

int compare(const Exact& a, const Exact& b) {
  const auto rank = [](const Exact& v) { return v.infinite ? (v.negative ? -1 : 1) : 0; };
  if (rank(a) != rank(b)) return rank(a) < rank(b) ? -1 : 1;
  if (a.infinite) return 0;
  const Exact difference = add(a, negate(b), Rounding::kNearest);
  return difference.magnitude == 0 ? 0 : difference.negative ? -1 : 1;
}

Big to_integer(const Exact& a, Rounding rounding) {
  const Big magnitude = rounded(a, 0, rounding);
  return a.negative ? Big(-magnitude) : magnitude;
}

}  // namespace lockstep::test
