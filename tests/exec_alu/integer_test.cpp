// Integer arithmetic against exact arithmetic in 128 bits, masked to the width as the PTX ISA writes it.
#include <catch2/catch.hpp>
#include <functional>
#include <map>

#include "tests/exec_alu/harness.hpp"

namespace lockstep::test {
namespace {

__extension__ typedef unsigned __int128 Raw;

struct Int {
  std::string name;
  unsigned width;
  bool is_signed;
  [[nodiscard]] Wide value(Bits bits) const {
    const Wide low = static_cast<Wide>(static_cast<Raw>(bits) & mask());
    return is_signed && (low >> (width - 1) & 1) != 0 ? low - (Wide{1} << width) : low;
  }
  [[nodiscard]] Raw mask() const { return (Raw{1} << width) - 1; }
  [[nodiscard]] Bits bits(Wide v) const { return static_cast<Bits>(static_cast<Raw>(v) & mask()); }
  [[nodiscard]] Wide lowest() const { return is_signed ? -(Wide{1} << (width - 1)) : 0; }
  [[nodiscard]] Wide highest() const {
    return is_signed ? (Wide{1} << (width - 1)) - 1 : (Wide{1} << width) - 1;
  }
  [[nodiscard]] Wide clamp(Wide v) const { return v < lowest() ? lowest() : v > highest() ? highest() : v; }
};

const std::vector<Int> kIntegerTypes = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                                        {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};
Int type_of(const std::string& name) {
  for (const Int& t : kIntegerTypes)
    if (t.name == name) return t;
  throw std::invalid_argument(name);
}

using Oracle = std::function<Bits(const Int&, Bits, Bits, Bits)>;
constexpr int kRounds = 40;  // of 32 lanes

void check(const std::string& form, const Int& type, int sources, const Oracle& oracle,
           const std::string& extra = "") {
  std::string operands = "r";
  for (int i = 0; i < sources; ++i) operands += ",r";
  Warp warp(form, operands + extra);
  std::mt19937_64 random(std::hash<std::string>()(form));
  for (int round = 0; round < kRounds; ++round) {
    for (int s = 0; s < sources; ++s)
      for (int lane = 0; lane < exec::kLanes; ++lane) warp.source(s, lane) = any_bits(random);
    const std::uint32_t mask = round % 4 == 0 ? static_cast<std::uint32_t>(random()) : ~0u;
    warp.run(mask);
    for (int lane = 0; lane < exec::kLanes; ++lane) {
      const auto at = [&](int s) { return s < sources ? warp.source(s, lane) : 0; };
      const Bits expected = (mask >> lane & 1) != 0 ? oracle(type, at(0), at(1), at(2)) : Warp::kUntouched;
      INFO(form << " lane " << lane << std::hex << " a " << at(0) << " b " << at(1) << " c " << at(2));
      REQUIRE(warp.result(lane) == expected);
    }
  }
}

/// As check, for operands given as numbers.
using IntegerRule = std::function<Wide(const Int&, Wide, Wide, Wide)>;
void check_rule(const std::string& form, const Int& type, int sources, const IntegerRule& rule) {
  check(form, type, sources, [&](const Int& t, Bits a, Bits b, Bits c) {
    return t.bits(rule(t, t.value(a), t.value(b), t.value(c)));
  });
}

Wide absolute(Wide v) { return v < 0 ? -v : v; }
/// Bits 2n-1..n of a product; of 64-bit types from 32-bit halves, as 128 bits do not hold every one.
Wide high(const Int& t, Wide a, Wide b) {
  if (t.width < 64) return a * b >> t.width;
  const Wide half = Wide{1} << 32;
  const Wide ah = a >> 32, al = a - ah * half, bh = b >> 32, bl = b - bh * half;
  const Wide middle = ah * bl + (al * bl >> 32);
  return ah * bh + (middle >> 32) + ((al * bh + (middle - (middle >> 32) * half)) >> 32);
}
Wide low24(const Int& t, Wide a) {
  const Wide low = a & 0xffffff;
  return t.is_signed && (low & 0x800000) != 0 ? low - 0x1000000 : low;
}

}  // namespace

TEST_CASE("Sums, differences, extremes of every integer type", "[exec][integer]") {
  for (const Int& t : kIntegerTypes) {
    check_rule("add." + t.name, t, 2, [](auto&, Wide a, Wide b, Wide) { return a + b; });
    check_rule("sub." + t.name, t, 2, [](auto&, Wide a, Wide b, Wide) { return a - b; });
    check_rule("min." + t.name, t, 2, [](auto&, Wide a, Wide b, Wide) { return a < b ? a : b; });
    check_rule("max." + t.name, t, 2, [](auto&, Wide a, Wide b, Wide) { return a > b ? a : b; });
    check_rule("sad." + t.name, t, 3, [](auto&, Wide a, Wide b, Wide c) { return c + absolute(a - b); });
    if (!t.is_signed) continue;
    check_rule("abs." + t.name, t, 1, [](auto&, Wide a, Wide, Wide) { return absolute(a); });
    check_rule("neg." + t.name, t, 1, [](auto&, Wide a, Wide, Wide) { return -a; });
  }
  const Int s32 = type_of("s32");
  check_rule("add.sat.s32", s32, 2, [](const Int& t, Wide a, Wide b, Wide) { return t.clamp(a + b); });
  check_rule("sub.sat.s32", s32, 2, [](const Int& t, Wide a, Wide b, Wide) { return t.clamp(a - b); });
  check_rule("min.relu.s32", s32, 2,
             [](auto&, Wide a, Wide b, Wide) { return std::max<Wide>(0, a < b ? a : b); });
  check_rule("max.relu.s32", s32, 2,
             [](auto&, Wide a, Wide b, Wide) { return std::max<Wide>(0, a > b ? a : b); });
}

TEST_CASE("Products of every integer type", "[exec][integer]") {
  for (const Int& t : kIntegerTypes) {
    // Low halves do not depend on signs: modulo 2^128.
    check("mul.lo." + t.name, t, 2,
          [](const Int& i, Bits a, Bits b, Bits) { return i.bits(Wide(Raw{a} * b)); });
    check("mad.lo." + t.name, t, 3,
          [](const Int& i, Bits a, Bits b, Bits c) { return i.bits(Wide(Raw{a} * b + c)); });
    check_rule("mul.hi." + t.name, t, 2, [](const Int& i, Wide a, Wide b, Wide) { return high(i, a, b); });
    check_rule("mad.hi." + t.name, t, 3,
               [](const Int& i, Wide a, Wide b, Wide c) { return high(i, a, b) + c; });
    if (t.width == 64) continue;
    const Int wide{"", 2 * t.width, t.is_signed};
    check("mul.wide." + t.name, t, 2,
          [&](const Int& i, Bits a, Bits b, Bits) { return wide.bits(i.value(a) * i.value(b)); });
    check("mad.wide." + t.name, t, 3, [&](const Int& i, Bits a, Bits b, Bits c) {
      return wide.bits(i.value(a) * i.value(b) + wide.value(c));
    });
    if (t.width != 32) continue;
    const auto product = [](const Int& i, Wide a, Wide b) { return low24(i, a) * low24(i, b); };
    check_rule("mul24.lo." + t.name, t, 2,
               [&](const Int& i, Wide a, Wide b, Wide) { return product(i, a, b); });
    check_rule("mul24.hi." + t.name, t, 2,
               [&](const Int& i, Wide a, Wide b, Wide) { return product(i, a, b) >> 16; });
    check_rule("mad24.lo." + t.name, t, 3,
               [&](const Int& i, Wide a, Wide b, Wide c) { return product(i, a, b) + c; });
    check_rule("mad24.hi." + t.name, t, 3,
               [&](const Int& i, Wide a, Wide b, Wide c) { return (product(i, a, b) >> 16) + c; });
  }
  const Int s32 = type_of("s32");
  check_rule("mad.hi.sat.s32", s32, 3,
             [](const Int& t, Wide a, Wide b, Wide c) { return t.clamp(high(t, a, b) + c); });
  check_rule("mad24.hi.sat.s32", s32, 3, [](const Int& t, Wide a, Wide b, Wide c) {
    return t.clamp(t.value(t.bits(low24(t, a) * low24(t, b) >> 16)) + c);
  });
}

TEST_CASE("Quotients and remainders, with zero and overflow", "[exec][integer]") {
  for (const Int& t : kIntegerTypes) {
    check_rule("div." + t.name, t, 2, [](auto&, Wide a, Wide b, Wide) { return b == 0 ? -1 : a / b; });
    check_rule("rem." + t.name, t, 2, [](auto&, Wide a, Wide b, Wide) { return b == 0 ? -1 : a % b; });
  }
  CHECK(eval("div.s32", "r,r,r", {0x80000000, 0xffffffff}) == 0x80000000);
  CHECK(eval("rem.s64", "r,r,r", {0x8000000000000000, ~Bits{0}}) == 0);
}

TEST_CASE("Halves of packed integers", "[exec][integer]") {
  const auto halves = [](const std::string& element, const std::function<Wide(Wide, Wide)>& rule) {
    return [element, rule](const Int&, Bits a, Bits b, Bits) {
      const Int half = type_of(element);
      const Bits low = half.bits(rule(half.value(a), half.value(b)));
      return low | half.bits(rule(half.value(a >> 16), half.value(b >> 16))) << 16;
    };
  };
  const Int word = type_of("u32");
  for (const std::string element : {"u16", "s16"}) {
    check("add." + element + "x2", word, 2, halves(element, [](Wide a, Wide b) { return a + b; }));
    check("sub." + element + "x2", word, 2, halves(element, [](Wide a, Wide b) { return a - b; }));
    check("min." + element + "x2", word, 2, halves(element, [](Wide a, Wide b) { return std::min(a, b); }));
    check("max." + element + "x2", word, 2, halves(element, [](Wide a, Wide b) { return std::max(a, b); }));
  }
  check("min.relu.s16x2", word, 2,
        halves("s16", [](Wide a, Wide b) { return std::max<Wide>(0, std::min(a, b)); }));
  check("max.relu.s16x2", word, 2,
        halves("s16", [](Wide a, Wide b) { return std::max<Wide>(0, std::max(a, b)); }));
}

TEST_CASE("Carry chains add, subtract and multiply numbers of several words", "[exec][integer]") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    const Raw a = Raw{any_bits(random)} << 64 | any_bits(random),
              b = Raw{any_bits(random)} << 64 | any_bits(random);
    const auto word = [](Raw v, int i, int width) { return static_cast<Bits>(v >> (i * width)); };
    for (const int width : {32, 64}) {
      const std::string type = width == 32 ? "u32" : (round % 2 != 0 ? "u64" : "s64");
      for (const std::string op : {"add", "sub"}) {
        Raw result = 0;
        exec::WarpFlags flags;
        for (int i = 0; i < 128 / width; ++i) {
          const bool last = i == 128 / width - 1;
          Warp warp((i == 0 ? op + ".cc." : op + (last ? "c." : "c.cc.")) + type, "r,r,r");
          warp.flags = flags;
          warp.set_all(0, word(a, i, width)).set_all(1, word(b, i, width)).run();
          flags = warp.flags;
          result |= Raw{warp.result(3)} << (i * width);
        }
        CHECK((result == (op == "add" ? a + b : a - b)));
      }
    }
  }
  // 64x64 -> 128 in 32-bit words: the low three by mad chains.
  for (int round = 0; round < 500; ++round) {
    const Bits x = any_bits(random), y = any_bits(random);
    const Bits xl = x & 0xffffffff, xh = x >> 32, yl = y & 0xffffffff, yh = y >> 32;
    exec::WarpFlags flags;
    const auto step = [&](const std::string& form, Bits a, Bits b, Bits c) {
      Warp warp(form, "r,r,r,r");
      warp.flags = flags;
      warp.set_all(0, a).set_all(1, b).set_all(2, c).run();
      flags = warp.flags;
      return warp.result(0);
    };
    const Bits r0 = eval("mul.lo.u32", "r,r,r", {xl, yl});
    Bits r1 = eval("mul.hi.u32", "r,r,r", {xl, yl});
    r1 = step("mad.lo.cc.u32", xh, yl, r1);
    Bits r2 = step("madc.hi.u32", xh, yl, 0);
    r1 = step("mad.lo.cc.u32", xl, yh, r1);
    r2 = step("madc.hi.cc.u32", xl, yh, r2);
    Bits r3 = step("madc.hi.u32", xh, yh, 0);
    r2 = step("mad.lo.cc.u32", xh, yh, r2);
    Warp last("addc.u32", "r,r,r");
    last.flags = flags;
    last.set_all(0, r3).set_all(1, 0).run();
    r3 = last.result(0);
    CHECK((Raw{r3} << 96 | Raw{r2} << 64 | Raw{r1} << 32 | r0) == Raw{x} * y);
  }
}

// nvcc's division of 128-bit integers compares numbers of several words like this.
TEST_CASE("An addition after a subtraction gets a carry where nothing was borrowed", "[exec][integer]") {
  std::mt19937_64 random(8);
  for (const std::string type : {"u32", "u64"}) {
    const auto after = [&](const std::string& form, Bits x, Bits y, exec::WarpFlags& flags) {
      Warp warp(form + type, "r,r,r");
      warp.flags = flags;
      warp.set_all(0, x).set_all(1, y).run();
      flags = warp.flags;
      return warp.result(0);
    };
    for (int round = 0; round < 500; ++round) {
      const Bits mask = type == "u32" ? 0xffffffff : ~Bits{0};
      const Bits low = any_bits(random) & mask, high = any_bits(random) & mask;
      const Bits other_low = any_bits(random) & mask;
      const Bits other_high = round % 3 == 0 ? high : any_bits(random) & mask;
      exec::WarpFlags flags;
      after("sub.cc.", low, other_low, flags);
      CHECK(flags.carry == (low >= other_low ? ~0u : 0));
      after("subc.cc.", high, other_high, flags);
      const bool not_less = high != other_high ? high > other_high : low >= other_low;
      CHECK(after("addc.", 5, 7, flags) == (not_less ? 13 : 12));
      CHECK(after("subc.", 7, 5, flags) == (not_less ? 2 : 1));
    }
  }
}

TEST_CASE("The carry bit is kept by lane, and by inactive lanes", "[exec][integer]") {
  Warp warp("add.cc.u32", "r,r,r");
  warp.flags.carry = 0xf0;
  warp.set(0, {0xffffffff, 0}).set_all(1, 1).run(0xff);
  CHECK(warp.flags.carry == 0x55);
  warp.flags.carry = 0xf000;
  warp.run(0xff);
  CHECK(warp.flags.carry == 0xf055);
}

TEST_CASE("Forms that PTX does not have are refused by name", "[exec][integer]") {
  for (const char* form : {"mul.s32", "mul.wide.u64", "add.sat.u32", "mad.lo.sat.s32", "abs.u32", "rem.f32",
                           "add.hi.s32", "mul24.lo.u16", "min.relu.u32", "addc.u16", "add.b32"}) {
    INFO(form);
    CHECK_THROWS_AS(exec::select_lane_op(instruction(form, "r,r,r")), exec::FormError);
  }
  CHECK_THROWS_WITH(exec::select_lane_op(instruction("mul.s32", "r,r,r")),
                    Catch::Contains("line 1: mul.s32: "));
  CHECK_THROWS_WITH(exec::select_lane_op(instruction("add.s32", "r,r")), Catch::Contains("sources"));
  CHECK_FALSE(exec::select_lane_op(instruction("bra", "r")));
}

}  // namespace lockstep::test
