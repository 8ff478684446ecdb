// Logic, shifts and bit fields against the ISA's bit-by-bit definitions.
#include <catch2/catch.hpp>
#include <functional>

#include "tests/exec_alu/harness.hpp"

namespace lockstep::test {
namespace {

using Args = std::array<Bits, 4>;

/// Compares the form with `oracle` on sources cut to `widths` bits; results in `result` bits.
void check(const std::string& form, const std::vector<int>& widths,
           const std::function<Bits(const Args&)>& oracle, const std::string& extra = "") {
  std::string operands = "r";
  for (std::size_t i = 0; i < widths.size(); ++i) operands += ",r";
  Warp warp(form, operands + extra);
  std::mt19937_64 random(std::hash<std::string>()(form));
  for (int round = 0; round < 60; ++round) {
    for (std::size_t s = 0; s < widths.size(); ++s)
      for (int lane = 0; lane < exec::kLanes; ++lane)
        warp.source(static_cast<int>(s), lane) = any_bits(random);
    warp.run();
    for (int lane = 0; lane < exec::kLanes; ++lane) {
      Args args{};
      for (std::size_t s = 0; s < widths.size(); ++s) {
        const Bits value = warp.source(static_cast<int>(s), lane);
        args[s] = widths[s] == 64 ? value : value & ((Bits{1} << widths[s]) - 1);
      }
      INFO(form << " lane " << lane << std::hex << " " << args[0] << " " << args[1] << " " << args[2] << " "
                << args[3]);
      REQUIRE(warp.result(lane) == oracle(args));
    }
  }
}

bool bit(Bits value, int i) { return i < 64 && (value >> i & 1) != 0; }
/// Bits 0 to width-1 from a rule for one bit.
Bits each_bit(int width, const std::function<bool(int)>& rule) {
  Bits out = 0;
  for (int i = 0; i < width; ++i)
    if (rule(i)) out |= Bits{1} << i;
  return out;
}

}  // namespace

TEST_CASE("Logic of every width", "[exec][bits]") {
  for (const int w : {1, 16, 32, 64}) {
    const std::string t = w == 1 ? "pred" : "b" + std::to_string(w);
    check("and." + t, {w, w}, [](const Args& a) { return a[0] & a[1]; });
    check("or." + t, {w, w}, [](const Args& a) { return a[0] | a[1]; });
    check("xor." + t, {w, w}, [](const Args& a) { return a[0] ^ a[1]; });
    check("not." + t, {w}, [w](const Args& a) { return cut(~a[0], w); });
    if (w > 1) check("cnot." + t, {w}, [](const Args& a) -> Bits { return a[0] == 0; });
  }
  for (const unsigned table : {0u, 0x80u, 0xfeu, 0x40u, 0x1au, 0x96u, 0xe8u, 0xffu, 0x5cu}) {
    const auto lop3 = [table](const Args& a) {
      return each_bit(32,
                      [&](int i) { return bit(table, bit(a[0], i) * 4 + bit(a[1], i) * 2 + bit(a[2], i)); });
    };
    check("lop3.b32", {32, 32, 32}, lop3, ",#" + std::to_string(table));
  }
  for (const std::string op : {"and", "or"})
    for (const std::string q : {"r", "!r"}) {
      Warp warp("lop3." + op + ".b32", "_|r,r,r,r,#0x80," + q);
      for (const Bits a : {Bits{0}, Bits{3}})
        for (const Bits given : {Bits{0}, Bits{1}}) {
          warp.set_all(0, a).set_all(1, 2).set_all(2, 6).set_all(4, given).run();
          const bool other = (given == 1) != (q == "!r");
          const bool nonzero = (a & 2 & 6) != 0;
          CHECK(warp.result(5, 1) == (op == "and" ? (nonzero && other) : (nonzero || other)));
          CHECK(warp.result(5, 0) == (a & 2 & 6));
        }
    }
}

TEST_CASE("Shifts clamp their counts; funnel shifts clamp or wrap", "[exec][bits]") {
  for (const int w : {16, 32, 64}) {
    const std::string n = std::to_string(w);
    const auto at = [](const Args& a, Bits from) { return from < 64 && bit(a[0], static_cast<int>(from)); };
    check("shl.b" + n, {w, 32}, [=](const Args& a) {
      return each_bit(
          w, [&](int i) { return static_cast<Bits>(i) >= a[1] && at(a, static_cast<Bits>(i) - a[1]); });
    });
    for (const std::string t : {"b", "u"})
      check("shr." + t + n, {w, 32}, [=](const Args& a) {
        return each_bit(w, [&](int i) { return at(a, static_cast<Bits>(i) + a[1]); });
      });
    check("shr.s" + n, {w, 32}, [=](const Args& a) {
      return each_bit(w, [&](int i) {
        return bit(a[0],
                   static_cast<int>(std::min<Bits>(static_cast<Bits>(i) + a[1], static_cast<Bits>(w) - 1)));
      });
    });
  }
  for (const std::string mode : {"clamp", "wrap"})
    for (const std::string side : {"l", "r"})
      check("shf." + side + "." + mode + ".b32", {32, 32, 32}, [=](const Args& a) {
        const int n = static_cast<int>(mode == "clamp" ? std::min<Bits>(a[2], 32) : a[2] & 31);
        return each_bit(32, [&](int i) {
          const int from = side == "l" ? i + 32 - n : i + n;  // in {b, a}
          return from >= 32 ? bit(a[1], from - 32) : bit(a[0], from);
        });
      });
}

TEST_CASE("Bit fields as the ISA's loops define them", "[exec][bits]") {
  for (const int w : {32, 64}) {
    const std::string n = std::to_string(w);
    const int msb = w - 1;
    for (const bool is_signed : {false, true})
      check((is_signed ? "bfe.s" : "bfe.u") + n, {w, 32, 32}, [=](const Args& a) {
        const int pos = a[1] & 0xff, len = a[2] & 0xff;
        const bool sign = is_signed && len != 0 && bit(a[0], std::min(pos + len - 1, msb));
        return each_bit(w, [&](int i) { return i < len && pos + i <= msb ? bit(a[0], pos + i) : sign; });
      });
    check("bfi.b" + n, {w, w, 32, 32}, [=](const Args& a) {
      const int pos = a[2] & 0xff, len = a[3] & 0xff;
      return each_bit(w,
                      [&](int i) { return i >= pos && i < pos + len ? bit(a[0], i - pos) : bit(a[1], i); });
    });
    for (const bool is_signed : {false, true})
      for (const bool shift : {false, true})
        check(std::string("bfind.") + (shift ? "shiftamt." : "") + (is_signed ? "s" : "u") + n, {w},
              [=](const Args& a) -> Bits {
                const bool sign = is_signed && bit(a[0], msb);
                for (int i = msb; i >= 0; --i)
                  if (bit(a[0], i) != sign) return static_cast<Bits>(shift ? msb - i : i);
                return 0xffffffff;
              });
    check("popc.b" + n, {w}, [=](const Args& a) {
      Bits count = 0;
      for (int i = 0; i < w; ++i) count += bit(a[0], i);
      return count;
    });
    check("clz.b" + n, {w}, [=](const Args& a) {
      Bits count = 0;
      for (int i = msb; i >= 0 && !bit(a[0], i); --i) ++count;
      return count;
    });
    check("brev.b" + n, {w},
          [=](const Args& a) { return each_bit(w, [&](int i) { return bit(a[0], msb - i); }); });
  }
}

TEST_CASE("fns, bmsk, szext", "[exec][bits]") {
  check("fns.b32", {32, 32, 32}, [](const Args& a) -> Bits {
    if (a[1] > 31) return 0xffffffff;  // undefined in PTX
    const int base = static_cast<int>(a[1]);
    const std::int64_t offset = static_cast<std::int32_t>(a[2]);
    if (offset == 0) return bit(a[0], base) ? a[1] : 0xffffffff;
    std::int64_t count = std::abs(offset) - 1;
    for (int pos = base; pos >= 0 && pos<32; pos += offset> 0 ? 1 : -1)
      if (bit(a[0], pos) && count-- == 0) return static_cast<Bits>(pos);
    return 0xffffffff;
  });
  for (const bool clamp : {true, false}) {
    const std::string mode = clamp ? "clamp" : "wrap";
    check("bmsk." + mode + ".b32", {32, 32}, [=](const Args& a) {
      const Bits from = clamp ? a[0] : a[0] & 31, width = clamp ? a[1] : a[1] & 31;
      return each_bit(
          32, [&](int i) { return static_cast<Bits>(i) >= from && static_cast<Bits>(i) - from < width; });
    });
    for (const bool is_signed : {false, true})
      check("szext." + mode + (is_signed ? ".s32" : ".u32"), {32, 32}, [=](const Args& a) {
        const Bits n = clamp ? std::min<Bits>(a[1], 32) : a[1] & 31;
        return each_bit(32, [&](int i) {
          if (n == 0) return false;
          return static_cast<Bits>(i) < n ? bit(a[0], i) : is_signed && bit(a[0], static_cast<int>(n) - 1);
        });
      });
  }
  CHECK(eval("szext.clamp.s32", "r,r,r", {0x80, 8}) == 0xffffff80);
  CHECK(eval("bmsk.clamp.b32", "r,r,r", {4, 40}) == 0xfffffff0);
}

TEST_CASE("prmt in every mode: literal rows of the ISA's table", "[exec][bits]") {
  const Bits a = 0x03020100, b = 0x07060504;  // byte i is i
  const auto permute = [&](const std::string& mode, Bits c) {
    return eval("prmt.b32" + mode, "r,r,r,r", {a, b, c});
  };
  CHECK(permute("", 0x7531) == 0x07050301);
  CHECK(eval("prmt.b32", "r,r,r,r", {0x00ff807f, 0x12345678, 0x0a98}) == 0x7fffff00);
  const struct {
    const char* mode;
    Bits rows[4];
  } table[] = {{".f4e", {0x03020100, 0x04030201, 0x05040302, 0x06050403}},
               {".b4e", {0x05060700, 0x06070001, 0x07000102, 0x00010203}},
               {".rc8", {0x00000000, 0x01010101, 0x02020202, 0x03030303}},
               {".ecl", {0x03020100, 0x03020101, 0x03020202, 0x03030303}},
               {".ecr", {0x00000000, 0x01010100, 0x02020100, 0x03020100}},
               {".rc16", {0x01000100, 0x03020302, 0x01000100, 0x03020302}}};
  for (const auto& row : table)
    for (Bits c = 0; c < 4; ++c) CHECK(permute(row.mode, c + 4) == row.rows[c]);
}

TEST_CASE("Dot products of bytes and halves", "[exec][bits]") {
  const auto part = [](Bits word, int index, int width, bool is_signed) {
    const std::int64_t value = static_cast<std::int64_t>(word >> (index * width) & ((1u << width) - 1));
    return is_signed && (value >> (width - 1)) != 0 ? value - (std::int64_t{1} << width) : value;
  };
  for (const bool sa : {false, true})
    for (const bool sb : {false, true}) {
      const std::string types = std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32");
      check("dp4a" + types, {32, 32, 32}, [=](const Args& a) {
        std::int64_t sum = static_cast<std::int64_t>(a[2]);
        for (int i = 0; i < 4; ++i) sum += part(a[0], i, 8, sa) * part(a[1], i, 8, sb);
        return static_cast<Bits>(sum) & 0xffffffff;
      });
      for (const int first : {0, 2})
        check(std::string("dp2a.") + (first == 0 ? "lo" : "hi") + types, {32, 32, 32}, [=](const Args& a) {
          std::int64_t sum = static_cast<std::int64_t>(a[2]);
          for (int i = 0; i < 2; ++i) sum += part(a[0], i, 16, sa) * part(a[1], first + i, 8, sb);
          return static_cast<Bits>(sum) & 0xffffffff;
        });
    }
}

TEST_CASE("mov copies, packs and unpacks", "[exec][bits]") {
  for (const int w : {16, 32, 64})
    for (const std::string t : {"b", "u", "s"})
      check("mov." + t + std::to_string(w), {w}, [](const Args& a) { return a[0]; });
  check("mov.f32", {32}, [](const Args& a) { return a[0]; });
  check("mov.pred", {1}, [](const Args& a) { return a[0]; });
  CHECK(eval("mov.b64", "r,{r,r}", {0xffff00000001, 2}) == 0x200000001);
  CHECK(eval("mov.b64", "r,{r,r,r,r}", {1, 2, 3, 0xffff0004}) == 0x0004000300020001);
  CHECK(eval("mov.b32", "r,{r,r}", {0xabcd, 0x12345678}) == 0x5678abcd);
  Warp split("mov.b64", "{r,r},r");
  split.set_all(0, 0x1111111122222222).run(2);
  CHECK(split.result(1, 0) == 0x22222222);
  CHECK(split.result(1, 1) == 0x11111111);
  CHECK(split.result(0, 1) == Warp::kUntouched);
  Warp joined("mov.b128", "r,{r,r}");
  joined.set_all(0, 7).set_all(1, 9).run();
  CHECK(joined.result(31) == 7);
  CHECK(joined.high_result(31) == 9);
}

}  // namespace lockstep::test
