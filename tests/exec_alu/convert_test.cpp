// cvt between all types against exact numbers.
#include <catch2/catch.hpp>

#include "tests/exec_alu/exact.hpp"
#include "tests/exec_alu/harness.hpp"

namespace lockstep::test {
namespace {

struct Kind {
  std::string name;
  int width;
  bool is_signed;
  Format format;  // width 0: an integer
  bool is_float;
};
const Kind kKinds[] = {
    {"u8", 8, false, {}, false},     {"s8", 8, true, {}, false},    {"u16", 16, false, {}, false},
    {"s16", 16, true, {}, false},    {"u32", 32, false, {}, false}, {"s32", 32, true, {}, false},
    {"u64", 64, false, {}, false},   {"s64", 64, true, {}, false},  {"f16", 16, true, kF16, true},
    {"bf16", 16, true, kBf16, true}, {"f32", 32, true, kF32, true}, {"f64", 64, true, kF64, true}};

struct ConversionMode {
  const char* name;
  const char* integral;
  Rounding rounding;
};
const ConversionMode kConversionModes[] = {{".rn", ".rni", Rounding::kNearest},
                                           {".rz", ".rzi", Rounding::kZero},
                                           {".rm", ".rmi", Rounding::kDown},
                                           {".rp", ".rpi", Rounding::kUp}};

Exact value_of(Bits bits, const Kind& kind, bool ftz) {
  bits = cut(bits, kind.width);
  if (kind.is_float) {
    if (ftz && kind.name == "f32" && (bits & kind.format.infinity()) == 0) bits &= kind.format.sign_bit();
    return decode(bits, kind.format);
  }
  if (kind.is_signed && (bits >> (kind.width - 1) & 1) != 0)
    return from_integer(Big(bits) - (Big(1) << kind.width));
  return from_integer(Big(bits));
}

Bits integer_result(const Exact& x, const Kind& from, const Kind& to, Rounding rounding, bool clamp,
                    int register_bits) {
  const Big low = to.is_signed ? Big(-(Big(1) << (to.width - 1))) : Big(0);
  const Big high = (Big(1) << (to.is_signed ? to.width - 1 : to.width)) - 1;
  Big v;
  if (x.nan) {
    v = from.name == "f64" || to.width == 64 ? Big(Big(1) << (to.width - 1)) : Big(0);
    if (to.is_signed) v = -v;
  } else if (x.infinite) {
    v = x.negative ? low : high;
  } else {
    v = to_integer(x, rounding);
    if (clamp) v = v < low ? low : v > high ? high : v;
  }
  // Two's complement in the type, then in the register.
  Big modulo = v & ((Big(1) << to.width) - 1);
  if (v < 0) modulo = ((Big(1) << 200) + v) & ((Big(1) << to.width) - 1);
  Bits bits = static_cast<Bits>(modulo);
  if (to.is_signed && (bits >> (to.width - 1) & 1) != 0 && register_bits > to.width)
    bits |= cut(~Bits{0}, register_bits) & ~cut(~Bits{0}, to.width);
  return bits;
}

Bits float_result(const Exact& x, const Kind& to, Rounding rounding, bool sat, bool ftz, Bits source) {
  const Format f = to.format;
  const Bits nan = to.name == "f64" ? source : f.sign_bit() - 1;
  Bits bits = encode(x, f, rounding, nan);
  const Bits one = static_cast<Bits>(f.bias()) << f.mantissa_bits;
  if (sat) bits = x.nan || (bits & f.sign_bit()) != 0 ? 0 : std::min(bits, one);
  if (ftz && to.name == "f32" && (bits & f.infinity()) == 0) bits &= f.sign_bit();
  return bits;
}

struct Options {
  bool sat = false, ftz = false, integral = false;
  int register_bits = 0;
};

void check(const Kind& to, const Kind& from, const ConversionMode& mode, const std::string& rounding,
           Options o) {
  const std::string form =
      "cvt" + rounding + (o.ftz ? ".ftz" : "") + (o.sat ? ".sat" : "") + "." + to.name + "." + from.name;
  Warp warp(form, "r,r", static_cast<unsigned>(o.register_bits));
  std::mt19937_64 random(std::hash<std::string>()(form));
  for (int round = 0; round < 12; ++round) {
    for (int lane = 0; lane < exec::kLanes; ++lane)
      warp.source(0, lane) = from.is_float
                                 ? any_float(random, from.format.exponent_bits, from.format.mantissa_bits)
                                 : any_bits(random);
    warp.run();
    for (int lane = 0; lane < exec::kLanes; ++lane) {
      const Bits a = warp.source(0, lane);
      Exact x = value_of(a, from, o.ftz);
      INFO(form << std::hex << " of " << cut(a, from.width) << " register " << o.register_bits);
      if (!to.is_float) {
        const int filled = std::max({o.register_bits, to.width, 16});
        REQUIRE(warp.result(lane) ==
                integer_result(x, from, to, mode.rounding, o.sat || from.is_float, filled));
        continue;
      }
      if (o.integral && !x.nan && !x.infinite) {
        const bool negative = x.negative;
        x = from_integer(to_integer(x, mode.rounding));
        x.negative = negative;
      }
      Bits payload = 0;  // a double's NaN keeps that of its source, quiet
      if (x.nan) {
        const Bits sign = (a & from.format.sign_bit()) != 0 ? Bits{1} << 63 : 0;
        const Bits mantissa = cut(a, from.format.mantissa_bits) << (52 - from.format.mantissa_bits);
        payload = sign | 0x7ff8000000000000 | mantissa;
      }
      // libcu++'s software cvt, which its test compares bit by bit with the hardware's: sign and upper
      // payload stay, quiet.
      if (x.nan && to.name == "f32" && from.name == "f64" && !o.sat) {
        REQUIRE(warp.result(lane) == (a >> 63 << 31 | 0x7fc00000 | cut(a, 52) >> 29));
        continue;
      }
      REQUIRE(warp.result(lane) ==
              float_result(x, to, o.integral ? Rounding::kNearest : mode.rounding, o.sat, o.ftz, payload));
    }
  }
}

}  // namespace

TEST_CASE("cvt between every pair of types", "[exec][convert]") {
  for (const Kind& to : kKinds)
    for (const Kind& from : kKinds)
      for (const bool sat : {false, true})
        for (const bool ftz : {false, true}) {
          if (ftz && to.name != "f32" && from.name != "f32") continue;
          const Options o{sat, ftz};
          if (!to.is_float && !from.is_float) {
            for (const int bits : {0, 32, 64})
              if (bits == 0 || bits >= to.width)
                check(to, from, kConversionModes[0], "", {sat, false, false, bits});
          } else if (to.is_float && from.is_float && to.width > from.width) {
            check(to, from, kConversionModes[0], "", o);
          } else {
            for (const ConversionMode& mode : kConversionModes)
              check(to, from, mode, to.is_float ? mode.name : mode.integral, o);
          }
          if (to.is_float && to.name == from.name) {
            check(to, from, kConversionModes[0], "", o);
            for (const ConversionMode& mode : kConversionModes)
              check(to, from, mode, mode.integral, {sat, ftz, true});
          }
        }
}

TEST_CASE("cvt to packs, tf32 and 8-bit formats", "[exec][convert]") {
  std::mt19937_64 random(31);
  const auto limited = [](Bits bits, const Exact& x, const Format& f, bool relu, bool satfinite) {
    if (relu && !x.nan && (bits & f.sign_bit()) != 0) return Bits{0};
    if (satfinite && !x.nan && (bits & (f.sign_bit() - 1)) == f.infinity()) return bits - 1;
    return bits;
  };
  for (const std::string relu : {"", ".relu"})
    for (const std::string sat : {"", ".satfinite"})
      for (const ConversionMode& mode : {kConversionModes[0], kConversionModes[1]})
        for (int i = 0; i < 600; ++i) {
          const Bits a = any_float(random, 8, 23), b = any_float(random, 8, 23);
          const auto expected = [&](Bits bits, const Format& f) {
            const Exact x = decode(bits, kF32);
            return limited(encode(x, f, mode.rounding, f.sign_bit() - 1), x, f, !relu.empty(), !sat.empty());
          };
          const std::string head = std::string("cvt") + mode.name + relu + sat;
          INFO(head << std::hex << " " << a << " " << b);
          REQUIRE(eval(head + ".f16x2.f32", "r,r,r", {a, b}) ==
                  (expected(a, kF16) << 16 | expected(b, kF16)));
          REQUIRE(eval(head + ".bf16x2.f32", "r,r,r", {a, b}) ==
                  (expected(a, kBf16) << 16 | expected(b, kBf16)));
          const Bits tf32 = decode(a, kF32).nan ? 0x7fffffff : expected(a, kTf32) << 13;
          REQUIRE(eval(head + ".tf32.f32", "r,r", {a}) == tf32);
          REQUIRE(eval(head + ".bf16.f32", "r,r", {a}) == expected(a, kBf16));
        }
  for (int i = 0; i < 2000; ++i) {
    const Bits a = any_float(random, 8, 23);
    const Exact x = decode(a, kF32);
    REQUIRE(eval("cvt.rna.tf32.f32", "r,r", {a}) ==
            (x.nan ? 0x7fffffff : encode(x, kTf32, Rounding::kAway, 0) << 13));
  }
  for (int i = 0; i < 4000; ++i) {
    const Bits a = any_float(random, 8, 23);
    const Exact x = decode(a, kF32);
    // e4m3 has no infinity: 0x7e is 448, the greatest number, and 0x7f NaN. Below, its steps are those of a
    // format of five exponent bits whose bias is higher by eight.
    Exact scaled = x;
    scaled.exponent -= 8;
    const Bits steps = encode(scaled, {5, 3}, Rounding::kNearest, 0) & 0xff;
    const Bits sign = x.negative ? 0x80 : 0;
    const Bits e4m3 = x.nan ? 0x7f : sign | (x.infinite ? 0x7e : std::min<Bits>(steps, 0x7e));
    INFO(std::hex << a);
    REQUIRE(eval("cvt.rn.satfinite.e4m3x2.f32", "r,r,r", {a, 0}) == e4m3 << 8);
    Bits e5m2 = encode(x, {5, 2}, Rounding::kNearest, 0x7f);
    if (!x.nan && (e5m2 & 0x7f) == 0x7c) --e5m2;
    REQUIRE(eval("cvt.rn.satfinite.e5m2x2.f32", "r,r,r", {0, a}) == e5m2);
  }
  CHECK(eval("cvt.rn.f16x2.e4m3x2", "r,r", {0x7e38}) == 0x5f003c00);  // 448 and 1
  CHECK(eval("cvt.rn.f16x2.e5m2x2", "r,r", {0x7cc0}) == 0x7c00c000);  // infinity and -2
  CHECK(eval("cvt.rn.f16x2.e4m3x2", "r,r", {0x01ff}) == 0x18007fff);  // 2^-9 and NaN
  CHECK(eval("cvt.rn.relu.f16x2.e5m2x2", "r,r", {0xc03c}) == 0x00003c00);
  CHECK(eval("cvt.rn.satfinite.e4m3x2.f16x2", "r,r", {0x5f003c00}) == 0x7e38);
}

TEST_CASE("cvt.pack clamps and shifts", "[exec][convert]") {
  const Bits big = 0x00012345, minus = 0xffff0000;
  CHECK(eval("cvt.pack.sat.u16.s32", "r,r,r", {big, minus}) == 0xffff0000);
  CHECK(eval("cvt.pack.sat.s16.s32", "r,r,r", {big, minus}) == 0x7fff8000);
  CHECK(eval("cvt.pack.sat.u8.s32.b32", "r,r,r,r", {300, minus, 0xaabbccdd}) == 0xccddff00);
  CHECK(eval("cvt.pack.sat.s8.s32.b32", "r,r,r,r", {300, minus, 0x00001122}) == 0x11227f80);
  // Eight of them make a word, the first below all others.
  CHECK(eval("cvt.pack.sat.s4.s32.b32", "r,r,r,r", {9, minus, 0xaabbccdd}) == 0xbbccdd78);
  CHECK(eval("cvt.pack.sat.s4.s32.b32", "r,r,r,r", {0xfffffffd, 5, 0x12}) == 0x000012d5);
  CHECK(eval("cvt.pack.sat.u4.s32.b32", "r,r,r,r", {9, minus, 0xaabbccdd}) == 0xbbccdd90);
  CHECK(eval("cvt.pack.sat.u4.s32.b32", "r,r,r,r", {3, 77, 0}) == 0x0000003f);
}

TEST_CASE("Conversions without their rounding are refused", "[exec][convert]") {
  for (const char* form : {"cvt.f32.s32", "cvt.s32.f32", "cvt.f32.f64", "cvt.f16.f32", "cvt.rn.s32.f32",
                           "cvt.rni.f32.s32", "cvt.tf32.f32", "cvt.rn.rz.f32.f64", "cvt.approx.f32.f32"})
    CHECK_THROWS_AS(exec::select_lane_op(instruction(form, "r,r")), exec::FormError);
}

}  // namespace lockstep::test
