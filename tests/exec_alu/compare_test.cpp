// set, setp, selp and slct against the definitions of the comparisons.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "tests/exec_alu/harness.hpp"

namespace lockstep::test {
namespace {

/// -1 less, 0 equal, 1 greater, 2 unordered.
int order(long double a, long double b) {
  return std::isnan(a) || std::isnan(b) ? 2 : a < b ? -1 : a > b ? 1 : 0;
}

struct Comparison {
  const char* name;
  bool truth[4];  // less, equal, greater, unordered
};
const Comparison kFloat[] = {{"eq", {false, true, false, false}}, {"ne", {true, false, true, false}},
                             {"lt", {true, false, false, false}}, {"le", {true, true, false, false}},
                             {"gt", {false, false, true, false}}, {"ge", {false, true, true, false}},
                             {"equ", {false, true, false, true}}, {"neu", {true, false, true, true}},
                             {"ltu", {true, false, false, true}}, {"leu", {true, true, false, true}},
                             {"gtu", {false, false, true, true}}, {"geu", {false, true, true, true}},
                             {"num", {true, true, true, false}},  {"nan", {false, false, false, true}}};
const Comparison kUnsigned[] = {{"lo", {true, false, false, false}},
                                {"ls", {true, true, false, false}},
                                {"hi", {false, false, true, false}},
                                {"hs", {false, true, true, false}}};

/// A format: how to make bits and what they are worth.
struct ComparedFormat {
  const char* type;
  std::function<Bits(std::mt19937_64&)> make;
  std::function<long double(Bits)> value;
};
long double half(Bits bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const auto mantissa = static_cast<long double>(bits & 1023);
  const long double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25));
}
long double single_value(Bits bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
long double flushed(Bits bits) { return std::fabs(single_value(bits)) < 0x1p-126l ? 0 : single_value(bits); }

template <int kExponent, int kMantissa>
Bits make_float(std::mt19937_64& random) {
  return any_float(random, kExponent, kMantissa);
}
const ComparedFormat kFloats[] = {
    {"f32", make_float<8, 23>, single_value},
    {"ftz.f32", make_float<8, 23>, flushed},
    {"f64", make_float<11, 52>, [](Bits b) -> long double { return std::bit_cast<double>(b); }},
    {"f16", make_float<5, 10>, half},
    {"ftz.f16", make_float<5, 10>, [](Bits b) { return (b & 0x7c00) == 0 ? 0.0l : half(b); }},
    {"bf16", make_float<8, 7>, [](Bits b) { return single_value(b << 16); }},
};
const ComparedFormat kIntegers[] = {
    {"u16", any_bits, [](Bits b) -> long double { return static_cast<std::uint16_t>(b); }},
    {"s16", any_bits, [](Bits b) -> long double { return static_cast<std::int16_t>(b); }},
    {"u32", any_bits, [](Bits b) -> long double { return static_cast<std::uint32_t>(b); }},
    {"s32", any_bits, [](Bits b) -> long double { return static_cast<std::int32_t>(b); }},
    {"u64", any_bits, [](Bits b) -> long double { return static_cast<long double>(b); }},
    {"s64", any_bits,
     [](Bits b) -> long double { return static_cast<long double>(static_cast<std::int64_t>(b)); }},
};

struct Pair {
  Bits a, b;
};
/// Equal values now and then.
Pair pair(const ComparedFormat& format, std::mt19937_64& random) {
  const Bits a = format.make(random);
  return {a, random() % 4 == 0 ? a : format.make(random)};
}

bool combine(const std::string& op, bool t, bool c) {
  return op == "and" ? t && c : op == "or" ? t || c : t != c;
}

void check_setp(const Comparison& comparison, const ComparedFormat& format) {
  std::mt19937_64 random(11);
  const std::string name = comparison.name, type = format.type;
  Warp plain("setp." + name + "." + type, "r,r,r"), both("setp." + name + "." + type, "r|r,r,r");
  const std::string op = std::array{"and", "or", "xor"}[(name.size() + type.size()) % 3];
  const bool negated = type.size() % 2 == 0;
  Warp combined("setp." + name + "." + op + "." + type, std::string("r|r,r,r,") + (negated ? "!r" : "r"));
  for (int round = 0; round < 30; ++round) {
    for (int lane = 0; lane < exec::kLanes; ++lane) {
      const auto [a, b] = pair(format, random);
      for (Warp* warp : {&plain, &both, &combined}) {
        warp->source(0, lane) = a;
        warp->source(1, lane) = b;
      }
      combined.source(2, lane) = random() & 1;
    }
    for (Warp* warp : {&plain, &both, &combined}) warp->run();
    for (int lane = 0; lane < exec::kLanes; ++lane) {
      const Bits a = plain.source(0, lane), b = plain.source(1, lane);
      INFO(name << "." << op << "." << type << std::hex << " " << a << " " << b);
      const bool t = comparison.truth[order(format.value(a), format.value(b)) + 1];
      const bool c = (combined.source(2, lane) != 0) != negated;
      REQUIRE(plain.result(lane) == t);
      REQUIRE(both.result(lane, 0) == t);
      REQUIRE(both.result(lane, 1) == !t);
      REQUIRE(combined.result(lane, 0) == combine(op, t, c));
      REQUIRE(combined.result(lane, 1) == combine(op, !t, c));
    }
  }
}

}  // namespace

TEST_CASE("setp: every comparison of every type, with second predicate and boolean operator",
          "[exec][compare]") {
  for (const ComparedFormat& format : kFloats)
    for (const Comparison& comparison : kFloat) check_setp(comparison, format);
  for (const ComparedFormat& format : kIntegers) {
    for (int i = 0; i < 6; ++i) check_setp(kFloat[i], format);
    for (const Comparison& comparison : kUnsigned)
      if (format.type[0] == 'u') check_setp(comparison, format);
  }
  CHECK(eval("setp.ne.b64", "r,r,r", {Bits{1} << 40, 0}) == 1);
  CHECK_THROWS_AS(exec::select_lane_op(instruction("setp.lt.b32", "r,r,r")), exec::FormError);
  CHECK_THROWS_AS(exec::select_lane_op(instruction("setp.num.s32", "r,r,r")), exec::FormError);
}

TEST_CASE("Packed comparisons give one predicate or half an element", "[exec][compare]") {
  Warp two("setp.lt.f16x2", "r|r,r,r");
  two.set_all(0, 0x3c00'4000).set_all(1, 0x4000'3c00).run();  // {2, 1} < {1, 2}
  CHECK(two.result(0, 0) == 0);
  CHECK(two.result(0, 1) == 1);
  CHECK(eval("set.eq.f16x2.f16x2", "r,r,r", {0x3c00'7e00, 0x3c00'7e00}) == 0x3c000000);
  CHECK(eval("set.neu.bf16x2.bf16x2", "r,r,r", {0x3f80'7fc0, 0x3f80'7fc0}) == 0x3f80);
  CHECK(eval("set.gt.u32.f16x2", "r,r,r", {0x4000'3c00, 0x3c00'4000}) == 0xffff0000);
}

TEST_CASE("set gives all ones or one", "[exec][compare]") {
  for (const ComparedFormat& format : {kFloats[0], kFloats[2], kIntegers[3], kIntegers[4]}) {
    const struct {
      const char* type;
      Bits yes;
    } kResults[] = {{"u32", 0xffffffff}, {"s32", 0xffffffff}, {"f32", 0x3f800000}};
    for (const auto& result : kResults)
      for (int i = 0; i < 6; ++i) {
        const std::string tail = std::string(".") + result.type + "." + format.type;
        Warp plain(std::string("set.") + kFloat[i].name + tail, "r,r,r");
        Warp combined(std::string("set.") + kFloat[i].name + ".xor" + tail, "r,r,r,!r");
        std::mt19937_64 random(3);
        for (int round = 0; round < 500; ++round) {
          const auto [a, b] = pair(format, random);
          const bool t = kFloat[i].truth[order(format.value(a), format.value(b)) + 1];
          plain.set_all(0, a).set_all(1, b).run();
          combined.set_all(0, a).set_all(1, b).set_all(2, round & 1).run();
          REQUIRE(plain.result(9) == (t ? result.yes : 0));
          REQUIRE(combined.result(9) == (t != ((round & 1) == 0) ? result.yes : 0));
        }
      }
  }
  CHECK(eval("set.lt.f16.f16", "r,r,r", {0xbc00, 0}) == 0x3c00);
  CHECK(eval("set.lt.u16.bf16", "r,r,r", {0xbf80, 0}) == 0xffff);
}

TEST_CASE("selp and slct copy bits of every size", "[exec][compare]") {
  for (const char* type : {"b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"}) {
    const Bits mask = type[1] == '1' ? 0xffff : type[1] == '3' ? 0xffffffff : ~Bits{0};
    const Bits a = 0x7ff0000000000001, b = 0xfff1234587654321;
    CHECK(eval(std::string("selp.") + type, "r,r,r,r", {a, b, 1}) == (a & mask));
    CHECK(eval(std::string("selp.") + type, "r,r,r,r", {a, b, 0}) == (b & mask));
    CHECK(eval(std::string("slct.") + type + ".s32", "r,r,r,r", {a, b, 0}) == (a & mask));
    CHECK(eval(std::string("slct.") + type + ".s32", "r,r,r,r", {a, b, 0x80000000}) == (b & mask));
    CHECK(eval(std::string("slct.") + type + ".f32", "r,r,r,r", {a, b, 0x80000000}) == (a & mask));  // -0
    CHECK(eval(std::string("slct.") + type + ".f32", "r,r,r,r", {a, b, 0x7fc00000}) == (b & mask));  // NaN
    CHECK(eval(std::string("slct.") + type + ".f32", "r,r,r,r", {a, b, 0x80000001}) == (b & mask));
    CHECK(eval(std::string("slct.ftz.") + type + ".f32", "r,r,r,r", {a, b, 0x80000001}) == (a & mask));
  }
}

}  // namespace lockstep::test
