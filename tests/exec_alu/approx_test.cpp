// Approximate functions within the errors that the PTX ISA states, and the special values of its tables.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "tests/exec_alu/exact.hpp"
#include "tests/exec_alu/harness.hpp"

namespace lockstep::test {
namespace {

using Real = long double;

float single(Bits bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
Bits bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
Real half_value(Bits bits, Format f) {
  const Exact e = decode(bits, f);
  return (e.negative ? -1 : 1) *
         std::ldexp(static_cast<Real>(static_cast<std::uint64_t>(e.magnitude)), e.exponent);
}

struct Bound {
  std::string form;
  float low, high;  // arguments
  std::function<Real(Real)> exact;
  Real relative, absolute;  // error allowed: the greater
};

}  // namespace

TEST_CASE("Single-precision functions keep the ISA's error bounds", "[exec][approx]") {
  const Bound bounds[] = {
      {"rcp.approx", 0x1p-125f, 0x1p125f, [](Real x) { return 1 / x; }, 0x1p-23l, 0},
      {"sqrt.approx", 0x1p-126f, 0x1p127f, [](Real x) { return std::sqrt(x); }, 0x1p-23l, 0},
      {"rsqrt.approx", 0x1p-126f, 0x1p127f, [](Real x) { return 1 / std::sqrt(x); }, 0x1.1p-23l,
       0},  // 2^-22.9
      {"sin.approx", -3.14159f, 3.14159f, [](Real x) { return std::sin(x); }, 0, 0x1.1p-21l},
      {"cos.approx", -3.14159f, 3.14159f, [](Real x) { return std::cos(x); }, 0, 0x1.1p-21l},
      {"sin.approx", -50000.f, 50000.f, [](Real x) { return std::sin(x); }, 0, 0x1.1p-21l},
      {"cos.approx", -50000.f, 50000.f, [](Real x) { return std::cos(x); }, 0, 0x1.1p-21l},
      {"lg2.approx", 0.5f, 2.0f, [](Real x) { return std::log2(x); }, 0, 0x1p-22l},
      {"lg2.approx", 2.0f, 0x1p127f, [](Real x) { return std::log2(x); }, 0x1p-22l, 0},
      {"lg2.approx", 0x1p-126f, 0.5f, [](Real x) { return std::log2(x); }, 0x1p-22l, 0},
      {"ex2.approx", -125.f, 127.9f, [](Real x) { return std::exp2(x); }, 0x1.6p-23l, 0},  // 2^-22.5
      {"tanh.approx", -20.f, 20.f, [](Real x) { return std::tanh(x); }, 0x1p-11l, 0}};
  for (const Bound& bound : bounds)
    for (const std::string ftz : {"", ".ftz"}) {
      if (ftz == ".ftz" && bound.form == "tanh.approx") continue;
      Warp warp(bound.form + ftz + ".f32", "r,r");
      std::mt19937_64 random(5);
      const bool by_magnitude = bound.low > 0 && bound.high / bound.low > 100;
      for (int round = 0; round < 200; ++round) {
        for (int lane = 0; lane < exec::kLanes; ++lane) {
          const double u = static_cast<double>(random() >> 11) * 0x1p-53;
          const double x =
              by_magnitude
                  ? std::exp2(std::log2(bound.low) + u * (std::log2(bound.high) - std::log2(bound.low)))
                  : bound.low + u * (double{bound.high} - bound.low);
          warp.source(0, lane) = bits_of(static_cast<float>(x));
        }
        warp.run();
        for (int lane = 0; lane < exec::kLanes; ++lane) {
          const Real exact = bound.exact(single(warp.source(0, lane)));
          const Real error = std::fabs(single(warp.result(lane)) - exact);
          INFO(bound.form << " of " << single(warp.source(0, lane)) << " is " << single(warp.result(lane)));
          REQUIRE(error <= std::max(bound.absolute, bound.relative * std::fabs(exact)));
        }
      }
    }
}

TEST_CASE("Division: two units in the last place; zero for huge divisors", "[exec][approx]") {
  std::mt19937_64 random(9);
  for (const std::string form : {"div.approx.f32", "div.full.f32", "div.approx.ftz.f32", "div.full.ftz.f32"})
    for (int i = 0; i < 3000; ++i) {
      const Bits a = any_float(random, 8, 23), b = any_float(random, 8, 23);
      const Real exact = Real{single(a)} / single(b);
      if (!(std::fabs(exact) > 0x1p-120l && std::fabs(exact) < 0x1p127l) || std::fabs(single(b)) >= 0x1p126f)
        continue;
      if (std::fabs(single(a)) < 0x1p-126f || std::fabs(single(b)) < 0x1p-126f) continue;
      const Real got = single(eval(form, "r,r,r", {a, b}));
      REQUIRE(std::fabs(got - exact) <= 0x1p-22l * std::fabs(exact));
    }
  CHECK(eval("div.approx.f32", "r,r,r", {bits_of(0x1p127f), bits_of(0x1.8p126f)}) == 0);
  CHECK(eval("div.full.f32", "r,r,r", {bits_of(0x1p127f), bits_of(0x1p127f)}) == bits_of(1));
  CHECK(eval("div.approx.f32", "r,r,r", {bits_of(INFINITY), bits_of(0x1.8p126f)}) == 0x7fffffff);
  CHECK(eval("div.approx.f32", "r,r,r", {bits_of(1), 0}) == bits_of(INFINITY));
}

TEST_CASE("Special values of the ISA's tables", "[exec][approx]") {
  const float inf = INFINITY, tiny = 0x1p-140f;
  const struct {
    const char* form;
    float in, out;
  } rows[] = {{"rcp.approx.ftz.f32", -inf, -0.f},  {"rcp.approx.ftz.f32", -tiny, -inf},
              {"rcp.approx.ftz.f32", 0.f, inf},    {"rcp.approx.ftz.f32", inf, 0.f},
              {"sqrt.approx.ftz.f32", -0.f, -0.f}, {"sqrt.approx.ftz.f32", tiny, 0.f},
              {"sqrt.approx.f32", inf, inf},       {"rsqrt.approx.ftz.f32", -0.f, -inf},
              {"rsqrt.approx.ftz.f32", tiny, inf}, {"rsqrt.approx.f32", inf, 0.f},
              {"sin.approx.f32", -0.f, -0.f},      {"sin.approx.ftz.f32", -tiny, -0.f},
              {"cos.approx.f32", 0.f, 1.f},        {"cos.approx.ftz.f32", tiny, 1.f},
              {"lg2.approx.f32", 0.f, -inf},       {"lg2.approx.ftz.f32", tiny, -inf},
              {"lg2.approx.f32", tiny, -140.f},    {"lg2.approx.f32", inf, inf},
              {"lg2.approx.f32", 1.f, 0.f},        {"ex2.approx.ftz.f32", -inf, 0.f},
              {"ex2.approx.ftz.f32", tiny, 1.f},   {"ex2.approx.f32", inf, inf},
              {"ex2.approx.f32", 10.f, 1024.f},    {"ex2.approx.f32", -140.f, tiny},
              {"ex2.approx.ftz.f32", -140.f, 0.f}, {"ex2.approx.f32", 200.f, inf},
              {"tanh.approx.f32", -inf, -1.f},     {"tanh.approx.f32", -0.f, -0.f},
              {"tanh.approx.f32", tiny, tiny}};
  for (const auto& row : rows) {
    INFO(row.form << " " << row.in);
    CHECK(eval(row.form, "r,r", {bits_of(row.in)}) == bits_of(row.out));
  }
  for (const char* form : {"rcp.approx.f32", "sqrt.approx.f32", "rsqrt.approx.f32", "sin.approx.f32",
                           "cos.approx.f32", "lg2.approx.f32", "ex2.approx.f32", "tanh.approx.f32"})
    CHECK(eval(form, "r,r", {0xffc12345}) == 0x7fffffff);
  for (const char* form : {"sqrt.approx.f32", "rsqrt.approx.f32", "lg2.approx.f32"})
    CHECK(eval(form, "r,r", {bits_of(-1.f)}) == 0x7fffffff);
  for (const char* form : {"sin.approx.f32", "cos.approx.f32"}) {
    CHECK(eval(form, "r,r", {bits_of(inf)}) == 0x7fffffff);
    CHECK(std::fabs(single(eval(form, "r,r", {bits_of(0x1.fp126f)}))) <= 1);
  }
}

TEST_CASE("Double-precision approximations", "[exec][approx]") {
  std::mt19937_64 random(13);
  for (int i = 0; i < 2000; ++i) {
    const Bits a = (random() & 0x000fffffffffffff) | (1 + random() % 2040) << 52;
    const auto value = [](Bits bits) { return Real{std::bit_cast<double>(bits)}; };
    const Real root = 1 / std::sqrt(value(a));
    CHECK(std::fabs(value(eval("rsqrt.approx.f64", "r,r", {a})) - root) <= 0x1p-51l * root);
    const Bits gross = eval("rsqrt.approx.ftz.f64", "r,r", {a}), rcp = eval("rcp.approx.ftz.f64", "r,r", {a});
    CHECK(std::fabs(value(gross) - root) <= 0x1p-19l * root);
    CHECK(std::fabs(value(rcp) - 1 / value(a)) <= 0x1p-19l / value(a));
    CHECK(((gross | rcp) & 0xffffffff) == 0);
  }
  CHECK(eval("rcp.approx.ftz.f64", "r,r", {1}) == 0x7ff0000000000000);
  CHECK(eval("rcp.approx.ftz.f64", "r,r", {0xfff0000000000000}) == 0x8000000000000000);
  CHECK(eval("rsqrt.approx.ftz.f64", "r,r", {0x8000000000000000}) == 0xfff0000000000000);
  CHECK((eval("rcp.approx.ftz.f64", "r,r", {0x7ff0000000000001}) & 0x7fffffff00000000) > 0x7ff0000000000000);
}

TEST_CASE("Half-precision approximations", "[exec][approx]") {
  const struct {
    const char* form;
    Format format;
    bool packed;
    std::function<Real(Real)> exact;
    Real relative, absolute;
  } rows[] = {
      {"tanh.approx.f16", kF16, false, [](Real x) { return std::tanh(x); }, 0, 0x1.03p-11l},
      {"tanh.approx.f16x2", kF16, true, [](Real x) { return std::tanh(x); }, 0, 0x1.03p-11l},
      {"tanh.approx.bf16", kBf16, false, [](Real x) { return std::tanh(x); }, 0, 0x1p-8l},
      {"tanh.approx.bf16x2", kBf16, true, [](Real x) { return std::tanh(x); }, 0, 0x1p-8l},
      {"ex2.approx.f16", kF16, false, [](Real x) { return std::exp2(x); }, 0x1.1p-10l, 0x1p-25l},
      {"ex2.approx.f16x2", kF16, true, [](Real x) { return std::exp2(x); }, 0x1.1p-10l, 0x1p-25l},
      {"ex2.approx.ftz.bf16", kBf16, false, [](Real x) { return std::exp2(x); }, 0x1p-7l, 0x1p-126l},
      {"ex2.approx.ftz.bf16x2", kBf16, true, [](Real x) { return std::exp2(x); }, 0x1p-7l, 0x1p-126l}};
  std::mt19937_64 random(3);
  for (const auto& row : rows)
    for (int i = 0; i < 3000; ++i) {
      const Bits a = any_float(random, row.format.exponent_bits, row.format.mantissa_bits),
                 b = row.packed ? 0x3c003c00 : 0;
      if (decode(a, row.format).nan || decode(a, row.format).infinite) continue;
      const Real exact = row.exact(half_value(a, row.format));
      const Bits got = eval(row.form, "r,r", {a | (b & 0xffff0000)}) & 0xffff;
      if (exact > 65504 && row.format.exponent_bits == 5) {
        CHECK(got == 0x7c00);
      } else if (exact < 0x1p127l) {
        INFO(row.form << std::hex << " " << a);
        CHECK(std::fabs(half_value(got, row.format) - exact) <=
              std::max(row.absolute, row.relative * std::fabs(exact)));
      }
    }
}

TEST_CASE("abs, neg, copysign, testp by bits", "[exec][float]") {
  CHECK(eval("abs.f32", "r,r", {0xff812345}) == 0x7f812345);
  CHECK(eval("neg.f32", "r,r", {0x7f812345}) == 0xff812345);
  CHECK(eval("abs.ftz.f32", "r,r", {0x80000001}) == 0);
  CHECK(eval("neg.ftz.f32", "r,r", {0x00000001}) == 0x80000000);
  CHECK(eval("abs.f64", "r,r", {0x8000000000000001}) == 1);
  CHECK(eval("neg.f64", "r,r", {0}) == 0x8000000000000000);
  CHECK(eval("abs.f16", "r,r", {0xfc00}) == 0x7c00);
  CHECK(eval("neg.ftz.f16", "r,r", {0x03ff}) == 0x8000);
  CHECK(eval("neg.ftz.f16x2", "r,r", {0x03ff8400}) == 0x80000400);
  CHECK(eval("abs.ftz.f16x2", "r,r", {0x83ff8400}) == 0x00000400);
  CHECK(eval("neg.bf16x2", "r,r", {0x3f80bf80}) == 0xbf803f80);
  CHECK(eval("abs.bf16", "r,r", {0xbf80}) == 0x3f80);
  CHECK(eval("copysign.f32", "r,r,r", {0x80000000, 0x3f800000}) == 0xbf800000);
  CHECK(eval("copysign.f64", "r,r,r", {0, 0xfff8000000000000}) == 0x7ff8000000000000);
  const struct {
    const char* property;
    bool truth[6];  // of 0, 1, subnormal, infinity, -NaN, -1
  } rows[] = {{"finite", {true, true, true, false, false, true}},
              {"infinite", {false, false, false, true, false, false}},
              {"number", {true, true, true, true, false, true}},
              {"notanumber", {false, false, false, false, true, false}},
              {"normal", {true, true, false, false, false, true}},
              {"subnormal", {false, false, true, false, false, false}}};
  const Bits f32[] = {0, 0x3f800000, 0x007fffff, 0x7f800000, 0xff800001, 0xbf800000};
  const Bits f64[] = {0, 0x3ff0000000000000, 1, 0x7ff0000000000000, 0xfff8000000000000, 0xbff0000000000000};
  for (const auto& row : rows)
    for (int i = 0; i < 6; ++i) {
      CHECK(eval(std::string("testp.") + row.property + ".f32", "r,r", {f32[i]}) == row.truth[i]);
      CHECK(eval(std::string("testp.") + row.property + ".f64", "r,r", {f64[i]}) == row.truth[i]);
    }
}

TEST_CASE("Floating-point min and max: NaN, signed zeros, .NaN, .xorsign.abs", "[exec][float]") {
  const struct {
    const char* type;
    Format format;
    int elements;
  } types[] = {{"f32", kF32, 1},   {"f64", kF64, 1},   {"f16", kF16, 1},
               {"bf16", kBf16, 1}, {"f16x2", kF16, 2}, {"bf16x2", kBf16, 2}};
  std::mt19937_64 random(21);
  for (const auto& type : types)
    for (const std::string flags : {"", ".ftz", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs", ".ftz.NaN"}) {
      const bool ftz = flags.find("ftz") != std::string::npos, nan = flags.find("NaN") != std::string::npos;
      const bool xorsign = flags.find("xor") != std::string::npos;
      const Format f = type.format;
      if ((ftz && (f.exponent_bits == 11 || f.mantissa_bits == 7)) ||
          (!flags.empty() && f.exponent_bits == 11))
        continue;
      for (const bool max : {false, true}) {
        Warp warp((max ? "max" : "min") + flags + "." + type.type, "r,r,r");
        const int width = 1 + f.exponent_bits + f.mantissa_bits;
        for (int round = 0; round < 40; ++round) {
          for (int s = 0; s < 2; ++s)
            for (int lane = 0; lane < exec::kLanes; ++lane) {
              Bits packed = 0;
              for (int e = 0; e < type.elements; ++e)
                packed |= (random() % 6 == 0 ? random() % 2 * f.sign_bit()
                                             : any_float(random, f.exponent_bits, f.mantissa_bits))
                          << (e * width);
              warp.source(s, lane) = packed;
            }
          warp.run();
          for (int lane = 0; lane < exec::kLanes; ++lane)
            for (int e = 0; e < type.elements; ++e) {
              const Bits mask = f.sign_bit() * 2 - 1;
              Bits a = warp.source(0, lane) >> (e * width) & mask,
                   b = warp.source(1, lane) >> (e * width) & mask;
              if (ftz && (a & f.infinity()) == 0) a &= f.sign_bit();
              if (ftz && (b & f.infinity()) == 0) b &= f.sign_bit();
              const Bits sign = (a ^ b) & f.sign_bit();
              if (xorsign) a &= f.sign_bit() - 1, b &= f.sign_bit() - 1;
              const Exact x = decode(a, f), y = decode(b, f);
              Bits want = 0;
              if (nan ? x.nan || y.nan : x.nan && y.nan) {
                want = f.exponent_bits == 11 ? 0xfff8000000000000 : f.sign_bit() - 1;
              } else if (x.nan || y.nan) {
                want = x.nan ? b : a;
              } else {
                const int order = compare(x, y);
                const bool a_less = order < 0 || (order == 0 && x.negative);
                want = a_less != max ? a : b;
              }
              if (xorsign && want != f.sign_bit() - 1) want |= sign;
              INFO((max ? "max" : "min") << flags << "." << type.type << std::hex << " " << a << " " << b);
              REQUIRE((warp.result(lane) >> (e * width) & mask) == want);
            }
        }
      }
    }
  CHECK(eval("min.f32", "r,r,r,r", {0x40000000, 0x7fc00000, 0x3f800000}) == 0x3f800000);
  CHECK(eval("max.NaN.f32", "r,r,r,r", {0x40000000, 0x7fc00000, 0x3f800000}) == 0x7fffffff);
}

}  // namespace lockstep::test
