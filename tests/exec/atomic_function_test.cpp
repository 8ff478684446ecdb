// What atomics do to one element, for random and extreme values: integers against C++'s arithmetic, halves by
// search over all values of their format.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "exec/decode.hpp"
#include "ptx/forms.hpp"
#include "ptx/lexer.hpp"

namespace lockstep::exec::test {
namespace {

using Bits = std::uint64_t;

ptx::Form atomic_form(const std::string& text) {
  ptx::Lexer lexer(text, "test");
  return ptx::FormReader().read(lexer);
}

AtomicFn function_of(const std::string& text, bool flush = false) {
  const auto found = atomic_function(atomic_form(text), flush);
  REQUIRE(found);
  return *found;
}

/// Values at the ends of the ranges of 32 and 64 bits, single bits, and random ones.
Bits any_integer(std::mt19937_64& random) {
  static const Bits kEnds[] = {0,          1,          ~Bits{0},      0x7fffffff,
                               0x80000000, 0xffffffff, Bits{1} << 63, ~Bits{0} >> 1};
  const Bits shift = random() % 64;
  switch (random() % 4) {
    case 0:
      return kEnds[random() % 8];
    case 1:
      return Bits{1} << shift;
    default:
      return random() >> shift;
  }
}

template <class T>
void check_integers(const std::string& type) {
  using U = std::make_unsigned_t<T>;
  std::mt19937_64 random(7);
  const AtomicFn add = function_of("atom.global.add." + type), min = function_of("atom.global.min." + type),
                 max = function_of("atom.global.max." + type);
  for (int n = 0; n < 2000; ++n) {
    const T a = static_cast<T>(any_integer(random)), b = static_cast<T>(any_integer(random));
    const Bits x = static_cast<U>(a), y = static_cast<U>(b);
    CAPTURE(type, a, b);
    REQUIRE(static_cast<U>(add(x, y, 0)) == static_cast<U>(x + y));
    REQUIRE(static_cast<U>(min(x, y, 0)) == static_cast<U>(a < b ? a : b));
    REQUIRE(static_cast<U>(max(x, y, 0)) == static_cast<U>(a < b ? b : a));
  }
}

/// A binary format of 16 bits: its magnitudes ascend with their bits.
struct Format {
  int exponent_bits, mantissa_bits;
  [[nodiscard]] std::uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  [[nodiscard]] double magnitude(std::uint32_t bits) const {
    const int bias = (1 << (exponent_bits - 1)) - 1, exponent = static_cast<int>(bits >> mantissa_bits);
    const double fraction = std::ldexp(bits & ((1u << mantissa_bits) - 1), -mantissa_bits);
    return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  }
  [[nodiscard]] double value(std::uint32_t bits) const {
    const std::uint32_t low = bits & 0x7fff;
    const double m = low > infinity()    ? std::numeric_limits<double>::quiet_NaN()
                     : low == infinity() ? std::numeric_limits<double>::infinity()
                                         : magnitude(low);
    return bits & 0x8000 ? -m : m;
  }
  /// The nearest value, of two the even one; what is as near to where the next one would be is infinite.
  [[nodiscard]] std::uint32_t nearest(double x) const {
    if (std::isnan(x)) return 0x7fff;
    const std::uint32_t sign = std::signbit(x) ? 0x8000 : 0;
    const double m = std::fabs(x);
    std::uint32_t low = 0, high = infinity();  // magnitude(low) <= m < magnitude(high)
    if (m >= magnitude(high)) return sign | high;
    while (high - low > 1) (magnitude((low + high) / 2) <= m ? low : high) = (low + high) / 2;
    const double below = m - magnitude(low), above = magnitude(high) - m;
    const bool up = above < below || (above == below && high % 2 == 0);
    return sign | (up ? high : low);
  }
};
constexpr Format kHalf{5, 10}, kBfloat{8, 7};

/// The lesser (greater) of two, the number of a number and a NaN.
std::uint32_t extreme(const Format& f, std::uint32_t a, std::uint32_t b, bool lesser) {
  const double x = f.value(a), y = f.value(b);
  if (std::isnan(x) && std::isnan(y)) return 0x7fff;
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) ? b : a;
  if (x == y) return ((a & 0x8000) != 0) == lesser ? a : b;  // zeros of both signs
  return (x < y) == lesser ? a : b;
}

std::uint32_t any_half(std::mt19937_64& random, const Format& f) {
  const std::uint32_t ends[] = {0,      0x8000, 1, f.infinity(), f.infinity() - 1, f.infinity() + 1,
                                0x7fff, 0x8001};
  return random() % 4 == 0 ? ends[random() % 8] : static_cast<std::uint32_t>(random() & 0xffff);
}

bool is_nan32(std::uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }

}  // namespace

TEST_CASE("atomic functions: sums, minima and maxima of integers wrap and compare by their type") {
  check_integers<std::uint32_t>("u32");
  check_integers<std::int32_t>("s32");
  check_integers<std::uint64_t>("u64");
  check_integers<std::int64_t>("s64");
}

TEST_CASE("atomic functions: bits, exchanges and comparisons") {
  std::mt19937_64 random(8);
  for (int n = 0; n < 500; ++n) {
    const Bits a = any_integer(random), b = n % 3 == 0 ? a : any_integer(random), c = any_integer(random);
    CAPTURE(a, b, c);
    CHECK(function_of("atom.global.and.b64")(a, b, c) == (a & b));
    CHECK(function_of("atom.global.or.b64")(a, b, c) == (a | b));
    CHECK(function_of("atom.global.xor.b64")(a, b, c) == (a ^ b));
    CHECK(function_of("atom.global.exch.b64")(a, b, c) == b);
    CHECK(function_of("atom.global.cas.b64")(a, b, c) == (a == b ? c : a));
    const auto x = static_cast<std::uint32_t>(a), y = static_cast<std::uint32_t>(b);
    CHECK(static_cast<std::uint32_t>(function_of("atom.global.cas.b32")(x, y, c)) ==
          (x == y ? static_cast<std::uint32_t>(c) : x));
    const auto h = static_cast<std::uint16_t>(a), k = static_cast<std::uint16_t>(b);
    CHECK(static_cast<std::uint16_t>(function_of("atom.global.cas.b16")(h, k, c)) ==
          (h == k ? static_cast<std::uint16_t>(c) : h));
  }
}

TEST_CASE("atomic functions: inc counts up to the operand and then from zero, dec down to zero and from it") {
  const AtomicFn inc = function_of("atom.global.inc.u32"), dec = function_of("atom.global.dec.u32");
  for (const Bits limit : {0u, 1u, 5u, 0xfffffffeu, 0xffffffffu})
    for (const Bits old : {0u, 1u, 4u, 5u, 6u, 0xfffffffeu, 0xffffffffu}) {
      CAPTURE(old, limit);
      CHECK(inc(old, limit, 0) == (old >= limit ? 0 : old + 1));
      CHECK(dec(old, limit, 0) == (old == 0 || old > limit ? limit : old - 1));
    }
  Bits ring = 0;
  for (int n = 0; n < 12; ++n) ring = inc(ring, 3, 0);
  CHECK(ring == 0);  // three times around 0, 1, 2, 3
}

TEST_CASE("atomic functions: sums of halves and bfloats are rounded once, to nearest even") {
  std::mt19937_64 random(9);
  const struct {
    const Format& format;
    std::string one, two;
  } rows[] = {{kHalf, "f16", "f16x2"}, {kBfloat, "bf16", "bf16x2"}};
  for (const auto& row : rows) {
    const AtomicFn one = function_of("atom.global.add.noftz." + row.one),
                   two = function_of("atom.global.add.noftz." + row.two);
    const Format& f = row.format;
    for (int n = 0; n < 20'000; ++n) {
      const std::uint32_t a = any_half(random, f);
      // Half of the time one of nearby magnitude, where rounding shows.
      const auto near = static_cast<std::uint32_t>(a + random() % 4096 - 2048) & 0xffff;
      const std::uint32_t b = n % 2 == 0 ? near : any_half(random, f);
      const std::uint32_t sum = f.nearest(f.value(a) + f.value(b));
      CAPTURE(row.one, a, b);
      REQUIRE((one(a, b, 0) & 0xffff) == sum);
      const std::uint32_t c = any_half(random, f), d = any_half(random, f);
      REQUIRE(two(a | c << 16, b | d << 16, 0) == (sum | f.nearest(f.value(c) + f.value(d)) << 16));
    }
  }
}

TEST_CASE("atomic functions: minima and maxima of halves and bfloats, with NaNs and zeros of both signs") {
  std::mt19937_64 random(10);
  for (int n = 0; n < 4000; ++n) {
    const std::uint32_t a = any_half(random, kHalf), b = n % 5 == 0 ? a ^ 0x8000 : any_half(random, kHalf);
    CAPTURE(a, b);
    REQUIRE((function_of("red.global.min.noftz.f16")(a, b, 0) & 0xffff) == extreme(kHalf, a, b, true));
    REQUIRE((function_of("red.global.max.noftz.f16")(a, b, 0) & 0xffff) == extreme(kHalf, a, b, false));
    const std::uint32_t c = any_half(random, kBfloat), d = any_half(random, kBfloat);
    REQUIRE(function_of("red.global.max.noftz.bf16x2")(c | d << 16, d | c << 16, 0) ==
            (extreme(kBfloat, c, d, false) | extreme(kBfloat, d, c, false) << 16));
  }
}

TEST_CASE(
    "atomic functions: sums of f32 and f64 are the host's, NaN is the canonical one, flushed where asked") {
  std::mt19937_64 random(11);
  const AtomicFn plain = function_of("atom.shared.add.f32"), flush = function_of("atom.global.add.f32", true),
                 wide = function_of("atom.global.add.f64");
  const auto flushed = [](float x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
  };
  const auto bits = [](float x) { return std::isnan(x) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(x); };
  std::size_t subnormal = 0;
  for (int n = 0; n < 5000; ++n) {
    auto a = static_cast<std::uint32_t>(random()), b = static_cast<std::uint32_t>(random());
    if (n % 3 == 0) a &= 0x80ffffff, b &= 0x80ffffff;  // small ones
    if (n % 7 == 0) b = a ^ 0x80000000;
    const float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
    CAPTURE(a, b);
    REQUIRE(plain(a, b, 0) == bits(x + y));
    REQUIRE(flush(a, b, 0) == bits(flushed(flushed(x) + flushed(y))));
    subnormal += std::fpclassify(x + y) == FP_SUBNORMAL;
    if (is_nan32(a) || is_nan32(b)) REQUIRE(plain(a, b, 0) == 0x7fffffff);
    const double u = std::bit_cast<double>(random()), v = std::bit_cast<double>(random());
    const Bits sum = wide(std::bit_cast<Bits>(u), std::bit_cast<Bits>(v), 0);
    if (std::isnan(u + v))
      REQUIRE(std::isnan(std::bit_cast<double>(sum)));
    else
      REQUIRE(sum == std::bit_cast<Bits>(u + v));
  }
  CHECK(subnormal > 100);
}

TEST_CASE("atomic functions: what PTX does not have has none; 128 bits have no function of 64") {
  for (const char* const text :
       {"atom.global.min.f32", "atom.global.max.f64", "atom.global.inc.u64", "atom.global.dec.u64",
        "atom.global.and.b128", "atom.global.cas.b8", "atom.global.add.b128", "atom.global.popc.b32"}) {
    CAPTURE(text);
    CHECK_FALSE(atomic_function(atomic_form(text), false));
  }
  for (const char* const text : {"atom.global.exch.b128", "atom.global.cas.b128"})
    CHECK(function_of(text) == nullptr);
}

TEST_CASE("atomic functions: those whose order does not matter give the same in each order") {
  std::mt19937_64 random(12);
  const std::vector<std::string> forms{"add.u32", "add.s32", "add.u64",  "min.s32", "max.u32",
                                       "min.u64", "max.s64", "and.b32",  "or.b64",  "xor.b32",
                                       "inc.u32", "dec.u32", "exch.b32", "add.f32"};
  for (const std::string& form : forms) {
    CAPTURE(form);
    const AtomicFn fn = function_of("atom.global." + form);
    const Bits mask = form.ends_with("64") ? ~Bits{0} : 0xffffffff;
    bool same = true;
    for (int n = 0; n < 400; ++n) {
      std::vector<Bits> operands(3);
      const Bits start = any_integer(random) & mask;
      for (Bits& o : operands) o = any_integer(random) & mask;
      const auto result = [&] {
        Bits value = start;
        for (const Bits o : operands) value = fn(value, o, 0) & mask;
        return value;
      };
      const Bits forwards = result();
      std::ranges::reverse(operands);
      same &= result() == forwards;
    }
    CHECK(atomic_commutes(atomic_form("atom.global." + form)) == same);
  }
}

}  // namespace lockstep::exec::test
