// Literals as values of a type.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "ptx/instruction.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {
namespace {

/// The value of a finite binary16 number, by IEEE 754: 1 sign, 5 exponent and 10 fraction bits.
double half_value(unsigned bits) {
  const unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(fraction, -24)
                                    : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
  return bits & 0x8000 ? -size : size;
}

std::optional<std::uint64_t> half_of(double value) {
  Operand o;
  o.literal = Literal::kFloat64;
  o.bits = std::bit_cast<std::uint64_t>(value);
  return immediate_bits(o, Type::kF16);
}

}  // namespace

TEST_CASE("ptx immediates: every binary16 number is itself, and what lies between two goes to the nearer") {
  constexpr unsigned kLargest = 0x7bff;
  for (unsigned bits = 0; bits <= kLargest; ++bits) {
    for (const unsigned sign : {0u, 0x8000u}) {
      REQUIRE(half_of(half_value(bits | sign)) == (bits | sign));
      if (bits == kLargest) continue;
      const double middle = (half_value(bits | sign) + half_value((bits + 1) | sign)) / 2;
      REQUIRE(half_of(middle) == ((bits + bits % 2) | sign));  // to even
      REQUIRE(half_of(std::nextafter(middle, 0.0)) == (bits | sign));
      REQUIRE(half_of(std::nextafter(middle, sign ? -1e9 : 1e9)) == ((bits + 1) | sign));
    }
  }
}

TEST_CASE("ptx immediates: infinities, NaNs and numbers beyond binary16") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(half_of(infinity) == 0x7c00);
  CHECK(half_of(-infinity) == 0xfc00);
  CHECK(half_of(1e300) == 0x7c00);
  CHECK(half_of(-65520) == 0xfc00);  // half a step above the largest
  CHECK(half_of(1e-300) == 0);
  CHECK(half_of(-1e-300) == 0x8000);
  CHECK(half_of(std::numeric_limits<double>::denorm_min()) == 0);
  const auto nan = half_of(std::bit_cast<double>(std::uint64_t{0x7ff0000000000001}));
  REQUIRE(nan);
  CHECK((*nan & 0x7c00) == 0x7c00);  // still a NaN, though its payload has no room
  CHECK((*nan & 0x03ff) != 0);
}

TEST_CASE("ptx immediates: integers are cut to the type's width, a predicate is whether there is any bit") {
  const Operand o = immediate("0x123456789ABCDEF0");
  CHECK(immediate_bits(o, Type::kU8) == 0xf0);
  CHECK(immediate_bits(o, Type::kS16) == 0xdef0);
  CHECK(immediate_bits(o, Type::kB32) == 0x9abcdef0);
  CHECK(immediate_bits(o, Type::kU64) == 0x123456789abcdef0);
  CHECK(immediate_bits(o, Type::kB128) == 0x123456789abcdef0);
  CHECK(immediate_bits(o, Type::kPred) == 1);
  CHECK(immediate_bits(immediate("0"), Type::kPred) == 0);
  for (const Type t : {Type::kF16, Type::kBf16, Type::kF32, Type::kF64, Type::kF16x2})
    CHECK_FALSE(immediate_bits(o, t));
}

TEST_CASE("ptx immediates: floating-point literals as types of other widths") {
  const Operand single = immediate("0f3FC00000"), wide = immediate("0d3FF8000000000000");  // 1.5
  CHECK(immediate_bits(single, Type::kF32) == 0x3fc00000);
  CHECK(immediate_bits(wide, Type::kF32) == 0x3fc00000);
  CHECK(immediate_bits(wide, Type::kTf32) == 0x3fc00000);
  CHECK(immediate_bits(single, Type::kF64) == 0x3ff8000000000000);
  CHECK(immediate_bits(single, Type::kF16) == 0x3e00);
  CHECK(immediate_bits(immediate("0f7FC00001"), Type::kF32) == 0x7fc00001);  // a NaN keeps its payload
  // Moved as bits, only by a type of their own width.
  CHECK(immediate_bits(single, Type::kB32) == 0x3fc00000);
  CHECK(immediate_bits(wide, Type::kB64) == 0x3ff8000000000000);
  CHECK_FALSE(immediate_bits(wide, Type::kB32));
  CHECK_FALSE(immediate_bits(single, Type::kB64));
  for (const Type t : {Type::kU32, Type::kS64, Type::kB16, Type::kPred, Type::kBf16})
    CHECK_FALSE(immediate_bits(single, t));
}

}  // namespace lockstep::ptx
