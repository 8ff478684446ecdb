// Video instructions against the ISA's pseudo-code, in exact arithmetic, and literal values.
#include <catch2/catch.hpp>
#include <functional>

#include "tests/exec_alu/harness.hpp"

namespace lockstep::test {
namespace {

/// Bits [at, at+width) of a word, extended.
Wide part(Bits word, int at, int width, bool is_signed) {
  const Wide value = static_cast<Wide>(word >> at & ((Bits{1} << width) - 1));
  return is_signed && (value >> (width - 1)) != 0 ? value - (Wide{1} << width) : value;
}
Wide clamp(Wide v, int width, bool is_signed) {
  const Wide low = is_signed ? -(Wide{1} << (width - 1)) : 0,
             high = (Wide{1} << (is_signed ? width - 1 : width)) - 1;
  return v < low ? low : v > high ? high : v;
}
Bits cut(Wide v, int width) { return static_cast<Bits>(v) & ((Bits{1} << width) - 1); }

using VideoRule = std::function<Wide(Wide, Wide)>;
struct Named {
  std::string name;
  VideoRule rule;
};
const Named kPlain[] = {{"vadd", [](Wide a, Wide b) { return a + b; }},
                        {"vsub", [](Wide a, Wide b) { return a - b; }},
                        {"vabsdiff", [](Wide a, Wide b) { return a < b ? b - a : a - b; }},
                        {"vmin", [](Wide a, Wide b) { return a < b ? a : b; }},
                        {"vmax", [](Wide a, Wide b) { return a < b ? b : a; }}};
const Named kCompares[] = {{"eq", [](Wide a, Wide b) -> Wide { return a == b; }},
                           {"ne", [](Wide a, Wide b) -> Wide { return a != b; }},
                           {"lt", [](Wide a, Wide b) -> Wide { return a < b; }},
                           {"le", [](Wide a, Wide b) -> Wide { return a <= b; }},
                           {"gt", [](Wide a, Wide b) -> Wide { return a > b; }},
                           {"ge", [](Wide a, Wide b) -> Wide { return a >= b; }}};

struct Part {
  std::string text;
  int at, width;
};
const Part kParts[] = {{"", 0, 32},    {".b0", 0, 8},  {".b1", 8, 8},  {".b2", 16, 8},
                       {".b3", 24, 8}, {".h0", 0, 16}, {".h1", 16, 16}};
std::string type(bool is_signed) { return is_signed ? ".s32" : ".u32"; }

struct Scalar {
  std::string form;
  VideoRule rule;
  bool sd, sa, sb, sat;
  std::string second;
  Part d, a, b;
};

void check_scalar(const Scalar& c, std::mt19937_64& random) {
  const bool merge = !c.d.text.empty(), three = merge || !c.second.empty();
  Warp warp(c.form + c.second, "r" + c.d.text + ",r" + c.a.text + ",r" + c.b.text + (three ? ",r" : ""));
  for (int s = 0; s < (three ? 3 : 2); ++s)
    for (int lane = 0; lane < 32; ++lane) warp.source(s, lane) = any_bits(random) & 0xffffffff;
  warp.run();
  for (int lane = 0; lane < 32; ++lane) {
    const Bits a = warp.source(0, lane), b = warp.source(1, lane), third = three ? warp.source(2, lane) : 0;
    Wide value = c.rule(part(a, c.a.at, c.a.width, c.sa), part(b, c.b.at, c.b.width, c.sb));
    if (c.sat) value = clamp(value, merge ? c.d.width : 32, c.sd);
    Bits want = cut(value, 32);
    if (merge) {
      const Bits mask = ((Bits{1} << c.d.width) - 1) << c.d.at;
      want = (want << c.d.at & mask) | (third & ~mask);
    } else if (c.second == ".add") {
      want = cut(value + third, 32);
    } else if (!c.second.empty()) {
      const Wide x = part(want, 0, 32, c.sd), y = part(third, 0, 32, c.sd);
      want = cut((c.second == ".min") == (x < y) ? x : y, 32);
    }
    INFO(c.form << c.second << " d" << c.d.text << " a" << c.a.text << " b" << c.b.text << std::hex << " "
                << a << " " << b << " " << third);
    REQUIRE(warp.result(lane) == want);
  }
}

}  // namespace

TEST_CASE("Scalar video instructions on every part, with saturation, merge and second operation",
          "[exec][video]") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 1500; ++round) {
    const bool sd = random() & 1, sa = random() & 1, sb = random() & 1, sat = random() & 1;
    const Part a = kParts[random() % 7], b = kParts[random() % 7];
    const int how = static_cast<int>(random() % 5);
    const std::string second = how == 1 ? ".add" : how == 2 ? ".min" : how == 3 ? ".max" : "";
    const Part d = how == 4 ? kParts[1 + random() % 6] : kParts[0];
    const Named& op = kPlain[random() % 5];
    const std::string suffix = sat ? ".sat" : "";
    check_scalar(
        {op.name + type(sd) + type(sa) + type(sb) + suffix, op.rule, sd, sa, sb, sat, second, d, a, b},
        random);
    const Named& compare = kCompares[random() % 6];
    check_scalar({"vset" + type(sa) + type(sb) + "." + compare.name, compare.rule, false, sa, sb, false,
                  second, d, a, b},
                 random);
    const bool left = random() & 1, wrap = random() & 1;
    const VideoRule shift = [=](Wide x, Wide n) {
      const int count = static_cast<int>(wrap ? n & 31 : n > 32 ? 32 : n);
      return left ? x * (Wide{1} << count) : x >> count;
    };
    check_scalar(
        {(left ? "vshl" : "vshr") + type(sd) + type(sa) + ".u32" + suffix + (wrap ? ".wrap" : ".clamp"),
         shift, sd, sa, false, sat, second, d, a, b},
        random);
  }
}

TEST_CASE("Video on two halves and four bytes", "[exec][video]") {
  std::mt19937_64 random(2);
  const VideoRule average = [](Wide a, Wide b) { return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1; };
  for (int round = 0; round < 1500; ++round) {
    const int n = random() & 1 ? 2 : 4, width = 32 / n;
    const bool sd = random() & 1, sa = random() & 1, sb = random() & 1, add = random() & 1,
               sat = !add && (random() & 1);
    const int which = static_cast<int>(random() % 7);
    const Named op = which == 6   ? kCompares[random() % 6]
                     : which == 5 ? Named{"vavrg", average}
                                  : kPlain[which];
    const std::string form =
        (which == 6 ? "vset" + std::to_string(n) + type(sa) + type(sb) + "." + op.name
                    : op.name + std::to_string(n) + type(sd) + type(sa) + type(sb) + (sat ? ".sat" : "")) +
        (add ? ".add" : "");
    std::array<int, 4> pick_a{0, 1, 2, 3}, pick_b{n, n + 1, n + 2, n + 3};
    std::string text_a, text_b, mask_text;
    unsigned mask = (1u << n) - 1;
    if (random() & 1) {
      text_a = text_b = n == 4 ? ".b" : ".h";
      for (int i = n - 1; i >= 0; --i) {
        const auto at = static_cast<std::size_t>(i);
        pick_a[at] = static_cast<int>(random() % (2 * static_cast<unsigned>(n)));
        pick_b[at] = static_cast<int>(random() % (2 * static_cast<unsigned>(n)));
        text_a += std::to_string(pick_a[at]);
        text_b += std::to_string(pick_b[at]);
      }
      mask = 1 + static_cast<unsigned>(random()) % ((1u << n) - 1);
      mask_text = n == 4 ? ".b" : ".h";
      for (int i = n - 1; i >= 0; --i)
        if ((mask >> i & 1) != 0) mask_text += std::to_string(i);
    }
    Warp warp(form, "r" + mask_text + ",r" + text_a + ",r" + text_b + ",r");
    for (int s = 0; s < 3; ++s)
      for (int lane = 0; lane < 32; ++lane) warp.source(s, lane) = any_bits(random) & 0xffffffff;
    warp.run();
    for (int lane = 0; lane < 32; ++lane) {
      const Bits a = warp.source(0, lane), b = warp.source(1, lane), c = warp.source(2, lane),
                 both = b << 32 | a;
      Bits want = add ? c : 0;
      for (int i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        Wide t =
            op.rule(part(both, pick_a[at] * width, width, sa), part(both, pick_b[at] * width, width, sb));
        if (sat && which != 6) t = clamp(t, width, sd);
        const bool chosen = (mask >> i & 1) != 0;
        if (add) {
          want = cut(static_cast<Wide>(want) + (chosen ? t : 0), 32);
        } else {
          want |= cut(chosen ? t : static_cast<Wide>(c >> (i * width)), width) << (i * width);
        }
      }
      INFO(form << " mask " << mask_text << " a" << text_a << " b" << text_b << std::hex << " " << a << " "
                << b << " " << c);
      REQUIRE(warp.result(lane) == want);
    }
  }
  // The sum of absolute differences of bytes, as programs use it.
  CHECK(eval("vabsdiff4.u32.u32.u32.add", "r,r,r,r", {0x01ff0510, 0x02000a00, 100}) ==
        100 + 1 + 255 + 5 + 16);
}

TEST_CASE("vmad: negation, plus one, scale, saturation", "[exec][video]") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    const bool sd = random() & 1, sa = random() & 1, sb = random() & 1, sat = random() & 1;
    const int negation = static_cast<int>(random() % 5);  // none, a, b, c, plus one
    const int shift = static_cast<int>(random() % 3) == 0 ? 0 : random() & 1 ? 7 : 15;
    const Part pa = kParts[random() % 7], pb = kParts[random() % 7];
    const std::string form = "vmad" + type(sd) + type(sa) + type(sb) + (negation == 4 ? ".po" : "") +
                             (sat ? ".sat" : "") + (shift == 0 ? "" : ".shr" + std::to_string(shift));
    const auto operand = [&](int number, const Part& p) {
      return std::string(negation == number ? ",-r" : ",r") + p.text;
    };
    Warp warp(form, "r" + operand(1, pa) + operand(2, pb) + operand(3, kParts[0]));
    const Bits a = any_bits(random) & 0xffffffff, b = any_bits(random) & 0xffffffff,
               c = any_bits(random) & 0xffffffff;
    warp.set_all(0, a).set_all(1, b).set_all(2, c).run();
    const bool final_signed = sa || sb || (negation >= 1 && negation <= 3);
    Wide value = part(a, pa.at, pa.width, sa) * part(b, pb.at, pb.width, sb);
    if (negation == 1 || negation == 2) value = -value;
    const Bits third = negation == 3 ? ~c & 0xffffffff : c;
    value += part(third, 0, 32, final_signed) + (negation == 3 || negation == 4 ? 1 : 0);
    value >>= shift;
    if (sat) value = clamp(value, 32, final_signed);
    INFO(form << " " << negation << pa.text << pb.text << std::hex << " " << a << " " << b << " " << c);
    REQUIRE(warp.result(7) == cut(value, 32));
  }
  CHECK_THROWS_AS(exec::select_lane_op(instruction("vmad.u32.u32.u32.po", "r,-r,r,r")), exec::FormError);
  CHECK_THROWS_AS(exec::select_lane_op(instruction("vshl.u32.u32.u32", "r,r,r")), exec::FormError);
  CHECK_THROWS_AS(exec::select_lane_op(instruction("vadd4.u32.u32.u32.sat.add", "r,r,r,r")), exec::FormError);
}

}  // namespace lockstep::test
