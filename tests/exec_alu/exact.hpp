// Floating-point numbers as exact integers times powers of two: the oracle of rounding.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>

namespace lockstep::test {

using Big = boost::multiprecision::cpp_int;

struct Format {
  int exponent_bits, mantissa_bits;
  bool ieee = true;  ///< the top exponent means infinity and NaN
  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] std::uint64_t top() const { return (std::uint64_t{1} << exponent_bits) - 1; }
  [[nodiscard]] std::uint64_t infinity() const { return top() << mantissa_bits; }
  [[nodiscard]] std::uint64_t sign_bit() const { return std::uint64_t{1} << (exponent_bits + mantissa_bits); }
};
inline constexpr Format kF16{5, 10}, kBf16{8, 7}, kTf32{8, 10}, kF32{8, 23}, kF64{11, 52};

enum class Rounding { kNearest, kZero, kDown, kUp, kAway };  // kAway: nearest, ties away from zero

/// (-1)^negative * (magnitude + sticky * tiny) * 2^exponent, or infinity, or NaN.
struct Exact {
  bool negative = false, infinite = false, nan = false;
  Big magnitude = 0;
  int exponent = 0;
  bool sticky = false;
  [[nodiscard]] bool zero() const { return !infinite && !nan && magnitude == 0 && !sticky; }
};

Exact decode(std::uint64_t bits, Format format);
Exact from_integer(const Big& value);
/// Bits of the rounded value; `nan` where it is one. Overflow as IEEE 754 says for the rounding.
std::uint64_t encode(const Exact& value, Format format, Rounding rounding, std::uint64_t nan);

Exact negate(Exact a);
/// Signs of zero sums follow the rounding.
Exact add(const Exact& a, const Exact& b, Rounding rounding);
Exact multiply(const Exact& a, const Exact& b);
Exact divide(const Exact& a, const Exact& b);
Exact square_root(const Exact& a);
/// -1, 0, 1; neither may be NaN.
int compare(const Exact& a, const Exact& b);
/// To an integral value in that rounding.
Big to_integer(const Exact& a, Rounding rounding);

}  // namespace lockstep::test
