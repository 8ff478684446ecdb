// Random straight-line programs of integer, logic, selection and packing instructions with immediates of
// every notation, guards and negated predicates, against an interpreter of each thread.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <functional>

#include "tests/exec/support.hpp"
#include "tests/random.hpp"

namespace lockstep::exec::test::straight {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S32 = std::int32_t;
using S64 = std::int64_t;

constexpr unsigned kThreads = 40, kWords = 8, kLongs = 5, kFlags = 4;

struct Registers {
  std::array<U32, kWords> w{};
  std::array<U64, kLongs> d{};
  std::array<bool, kFlags> p{};
};

using Effect = std::function<void(Registers&)>;
struct Instruction {
  std::string text;
  Effect effect;
};

/// A word that is read: a register or a literal.
struct Word {
  std::string text;
  std::function<U32(const Registers&)> value;
};

U32 byte_of(U64 pair, U32 selector) {
  const U32 byte = static_cast<U32>(pair >> 8 * (selector & 7)) & 0xff;
  return (selector & 8) != 0 ? ((byte & 0x80) != 0 ? 0xff : 0) : byte;
}

U32 dot(U32 a, U32 b, U32 c, bool a_signed, bool b_signed) {
  U32 sum = c;
  for (unsigned i = 0; i < 32; i += 8) {
    const U32 x = a >> i & 0xff, y = b >> i & 0xff;
    sum += (a_signed ? static_cast<U32>(S32{static_cast<std::int8_t>(x)}) : x) *
           (b_signed ? static_cast<U32>(S32{static_cast<std::int8_t>(y)}) : y);
  }
  return sum;
}

struct Binary {
  const char* name;
  U32 (*f)(U32, U32);
};
constexpr Binary kBinary[] = {
    {"add.u32", [](U32 a, U32 b) { return a + b; }},
    {"sub.s32", [](U32 a, U32 b) { return a - b; }},
    {"mul.lo.u32", [](U32 a, U32 b) { return a * b; }},
    {"mul.hi.u32", [](U32 a, U32 b) { return static_cast<U32>(U64{a} * b >> 32); }},
    {"mul.hi.s32", [](U32 a, U32 b) { return static_cast<U32>(U64(S64{S32(a)} * S32(b)) >> 32); }},
    {"mul24.lo.u32", [](U32 a, U32 b) { return static_cast<U32>(U64{a & 0xffffff} * (b & 0xffffff)); }},
    {"mul24.hi.u32", [](U32 a, U32 b) { return static_cast<U32>(U64{a & 0xffffff} * (b & 0xffffff) >> 16); }},
    {"and.b32", [](U32 a, U32 b) { return a & b; }},
    {"or.b32", [](U32 a, U32 b) { return a | b; }},
    {"xor.b32", [](U32 a, U32 b) { return a ^ b; }},
    {"shl.b32", [](U32 a, U32 b) { return b > 31 ? 0 : a << b; }},
    {"shr.u32", [](U32 a, U32 b) { return b > 31 ? 0 : a >> b; }},
    {"shr.s32", [](U32 a, U32 b) { return static_cast<U32>(S32(a) >> std::min<U32>(b, 31)); }},
    {"min.s32", [](U32 a, U32 b) { return S32(a) < S32(b) ? a : b; }},
    {"max.u32", [](U32 a, U32 b) { return std::max(a, b); }},
    {"div.u32", [](U32 a, U32 b) { return a / b; }},
    {"rem.u32", [](U32 a, U32 b) { return a % b; }},
};
struct Ternary {
  const char* name;
  U32 (*f)(U32, U32, U32);
};
constexpr Ternary kTernary[] = {
    {"mad.lo.s32", [](U32 a, U32 b, U32 c) { return a * b + c; }},
    {"mad.hi.u32", [](U32 a, U32 b, U32 c) { return static_cast<U32>(U64{a} * b >> 32) + c; }},
    {"sad.u32", [](U32 a, U32 b, U32 c) { return (a < b ? b - a : a - b) + c; }},
    {"sad.s32", [](U32 a, U32 b, U32 c) { return (S32(a) < S32(b) ? b - a : a - b) + c; }},
    {"dp4a.u32.u32", [](U32 a, U32 b, U32 c) { return dot(a, b, c, false, false); }},
    {"dp4a.s32.u32", [](U32 a, U32 b, U32 c) { return dot(a, b, c, true, false); }},
    {"dp4a.s32.s32", [](U32 a, U32 b, U32 c) { return dot(a, b, c, true, true); }},
    {"shf.l.wrap.b32",
     [](U32 a, U32 b, U32 c) { return static_cast<U32>((U64{b} << 32 | a) << (c & 31) >> 32); }},
    {"shf.r.clamp.b32",
     [](U32 a, U32 b, U32 c) { return static_cast<U32>((U64{b} << 32 | a) >> std::min<U32>(c, 32)); }},
    {"lop3.b32", [](U32 a, U32 b, U32 c) { return (a & b) ^ c; }},
    {"prmt.b32",
     [](U32 a, U32 b, U32 c) {
       U32 out = 0;
       for (unsigned i = 0; i < 4; ++i) out |= byte_of(U64{b} << 32 | a, c >> 4 * i & 15) << 8 * i;
       return out;
     }},
    {"bfe.u32",
     [](U32 a, U32 b, U32 c) {
       const U32 pos = b & 0xff, length = c & 0xff;
       return pos > 31 || length == 0 ? 0 : a >> pos & (length > 31 ? ~U32{0} : (U32{1} << length) - 1);
     }},
};
struct Unary {
  const char* name;
  U32 (*f)(U32);
};
constexpr Unary kUnary[] = {
    {"not.b32", [](U32 a) { return ~a; }},
    {"cnot.b32", [](U32 a) { return U32{a == 0}; }},
    {"neg.s32", [](U32 a) { return 0 - a; }},
    {"abs.s32", [](U32 a) { return S32(a) < 0 ? 0 - a : a; }},
    {"popc.b32", [](U32 a) { return static_cast<U32>(std::popcount(a)); }},
    {"clz.b32", [](U32 a) { return static_cast<U32>(std::countl_zero(a)); }},
    {"bfind.u32", [](U32 a) { return a == 0 ? ~U32{0} : 31 - static_cast<U32>(std::countl_zero(a)); }},
    {"brev.b32",
     [](U32 a) {
       U32 out = 0;
       for (unsigned i = 0; i < 32; ++i) out |= (a >> i & 1) << (31 - i);
       return out;
     }},
    {"cvt.s32.s8", [](U32 a) { return static_cast<U32>(S32{static_cast<std::int8_t>(a)}); }},
    {"cvt.u32.u16", [](U32 a) { return a & 0xffff; }},
    {"cvt.sat.u8.s32", [](U32 a) { return S32(a) < 0 ? 0 : std::min<U32>(a, 255); }},
    {"mov.b32", [](U32 a) { return a; }},
};
struct Comparison {
  const char* name;
  bool (*f)(U32, U32);
};
constexpr Comparison kComparisons[] = {
    {"eq.u32", [](U32 a, U32 b) { return a == b; }},
    {"ne.s32", [](U32 a, U32 b) { return a != b; }},
    {"lt.s32", [](U32 a, U32 b) { return S32(a) < S32(b); }},
    {"le.u32", [](U32 a, U32 b) { return a <= b; }},
    {"gt.u32", [](U32 a, U32 b) { return a > b; }},
    {"ge.s32", [](U32 a, U32 b) { return S32(a) >= S32(b); }},
    {"lo.u32", [](U32 a, U32 b) { return a < b; }},
    {"hs.u32", [](U32 a, U32 b) { return a >= b; }},
};

class Generator {
 public:
  explicit Generator(U32 seed) : random_(seed) {}

  Instruction next() {
    Instruction i = plain();
    if (below(3) != 0) return i;
    const unsigned p = below(kFlags);
    const bool negated = below(2) != 0;
    return {fmt::format("@{}%p{} {}", negated ? "!" : "", p, i.text), [=, effect = i.effect](Registers& r) {
              if (r.p[p] != negated) effect(r);
            }};
  }

 private:
  unsigned below(unsigned n) { return random_() % n; }
  template <class T, std::size_t N>
  const T& any(const T (&all)[N]) {
    return all[below(N)];
  }

  Word word() {
    const unsigned kind = below(10);
    if (kind < 7) return reg(below(kWords));
    const U32 bits = below(2) != 0 ? random_() : below(40);
    std::string text = fmt::format("{}", bits);
    if (kind == 7) text = below(2) != 0 ? fmt::format("0x{:x}", bits) : fmt::format("0X{:X}U", bits);
    if (kind == 8) text = fmt::format("-{}", 0 - bits);
    if (kind == 9 && bits < 4096)
      text = below(2) != 0 ? fmt::format("0{:o}", bits) : fmt::format("0b{:b}", bits);
    return {text, [bits](const Registers&) { return bits; }};
  }
  static Word reg(unsigned n) {
    return {fmt::format("%r{}", n), [n](const Registers& r) { return r.w[n]; }};
  }

  Instruction plain() {
    switch (below(9)) {
      case 0:
        return unary();
      case 1:
      case 2:
        return binary();
      case 3:
      case 4:
        return ternary();
      case 5:
        return compare();
      case 6:
        return select();
      case 7:
        return wide();
      default:
        return pack();
    }
  }

  Instruction unary() {
    const Unary& op = any(kUnary);
    const unsigned to = below(kWords);
    const Word a = std::string(op.name).starts_with("cvt") ? reg(below(kWords)) : word();
    return {fmt::format("{} %r{}, {};", op.name, to, a.text),
            [=](Registers& r) { r.w[to] = op.f(a.value(r)); }};
  }
  Instruction binary() {
    const Binary& op = any(kBinary);
    const unsigned to = below(kWords);
    const std::string name = op.name;
    const bool divides = name == "div.u32" || name == "rem.u32";  // by zero: not defined
    const U32 divisor = 1 + (random_() >> (1 + below(31)));
    const Word a = word(),
               b = divides ? Word{fmt::format("{}", divisor), [=](const Registers&) { return divisor; }}
                           : word();
    return {fmt::format("{} %r{}, {}, {};", op.name, to, a.text, b.text),
            [=](Registers& r) { r.w[to] = op.f(a.value(r), b.value(r)); }};
  }
  Instruction ternary() {
    const Ternary& op = any(kTernary);
    const unsigned to = below(kWords);
    const Word a = word(), b = word(), c = word();
    const char* const table = std::string(op.name) == "lop3.b32" ? ", 0x6a" : "";  // (0xf0 & 0xcc) ^ 0xaa
    return {fmt::format("{} %r{}, {}, {}, {}{};", op.name, to, a.text, b.text, c.text, table),
            [=](Registers& r) { r.w[to] = op.f(a.value(r), b.value(r), c.value(r)); }};
  }
  Instruction compare() {
    const Comparison& op = any(kComparisons);
    const unsigned to = below(kFlags), second = (to + 1) % kFlags, with = below(kFlags), join = below(4);
    const Word a = word(), b = word();
    static const char* const kJoins[] = {"", "and.", "or.", "xor."};
    const bool negated = below(2) != 0, two = below(2) != 0;
    std::string name = op.name;
    name.insert(name.find('.') + 1, kJoins[join]);
    std::string text = fmt::format("setp.{} %p{}{}, {}, {}", name, to,
                                   two ? fmt::format("|%p{}", second) : "", a.text, b.text);
    if (join > 0) text += fmt::format(", {}%p{}", negated ? "!" : "", with);
    return {text + ";", [=](Registers& r) {
              const bool is = op.f(a.value(r), b.value(r)), other = r.p[with] != negated;
              const auto joined = [&](bool x) {
                return join == 0 ? x : join == 1 ? (x && other) : join == 2 ? (x || other) : x != other;
              };
              r.p[to] = joined(is);
              if (two) r.p[second] = joined(!is);
            }};
  }
  Instruction select() {
    const unsigned to = below(kWords), p = below(kFlags);
    const Word a = word(), b = word(), c = word();
    if (below(2) != 0)
      return {fmt::format("selp.b32 %r{}, {}, {}, %p{};", to, a.text, b.text, p),
              [=](Registers& r) { r.w[to] = r.p[p] ? a.value(r) : b.value(r); }};
    if (below(2) != 0)
      return {fmt::format("slct.b32.s32 %r{}, {}, {}, {};", to, a.text, b.text, c.text),
              [=](Registers& r) { r.w[to] = S32(c.value(r)) >= 0 ? a.value(r) : b.value(r); }};
    const unsigned q = below(kFlags), out = below(kFlags);
    return {fmt::format("xor.pred %p{}, %p{}, %p{};", out, p, q),
            [=](Registers& r) { r.p[out] = r.p[p] != r.p[q]; }};
  }
  Instruction wide() {
    const unsigned to = below(kLongs), from = below(kLongs);
    const Word a = word(), b = word();
    switch (below(5)) {
      case 0:
        return {fmt::format("mad.wide.s32 %d{}, {}, {}, %d{};", to, a.text, b.text, from),
                [=](Registers& r) { r.d[to] = U64(S64{S32(a.value(r))} * S32(b.value(r))) + r.d[from]; }};
      case 1:
        return {fmt::format("mul.wide.u32 %d{}, {}, {};", to, a.text, b.text),
                [=](Registers& r) { r.d[to] = U64{a.value(r)} * b.value(r); }};
      case 2:
        return {fmt::format("add.s64 %d{0}, %d{1}, -{2};", to, from, 12345678901),
                [=](Registers& r) { r.d[to] = r.d[from] - 12345678901; }};
      case 3:
        return {fmt::format("shr.s64 %d{}, %d{}, {};", to, from, a.text),
                [=](Registers& r) { r.d[to] = U64(S64(r.d[from]) >> std::min<U32>(a.value(r), 63)); }};
      default: {
        const Word source = reg(below(kWords));
        return {fmt::format("cvt.s64.s32 %d{}, {};", to, source.text),
                [=](Registers& r) { r.d[to] = U64(S64{S32(source.value(r))}); }};
      }
    }
  }
  Instruction pack() {
    const unsigned d = below(kLongs), x = below(kWords), y = (x + 1 + below(kWords - 1)) % kWords;
    const Word a = reg(below(kWords)), b = reg(below(kWords));
    switch (below(3)) {
      case 0:
        return {fmt::format("mov.b64 %d{}, {{{}, {}}};", d, a.text, b.text),
                [=](Registers& r) { r.d[d] = U64{b.value(r)} << 32 | a.value(r); }};
      case 1:
        return {fmt::format("mov.b64 {{%r{}, %r{}}}, %d{};", x, y, d), [=](Registers& r) {
                  r.w[x] = static_cast<U32>(r.d[d]);
                  r.w[y] = static_cast<U32>(r.d[d] >> 32);
                }};
      default:
        return {fmt::format("cvt.u32.u64 %r{}, %d{};", x, d),
                [=](Registers& r) { r.w[x] = static_cast<U32>(r.d[d]); }};
    }
  }

  lockstep::test::Random32 random_;
};

Registers begin(U32 thread) {
  Registers r;
  for (unsigned i = 0; i < kWords; ++i) r.w[i] = (thread + 1) * (0x9e3779b1u >> i) + (i == 3 ? 0 : i << 28);
  for (unsigned i = 0; i < kLongs; ++i) r.d[i] = r.w[i] * 0x2545f4914f6cdd1dull;
  for (unsigned i = 0; i < kFlags; ++i) r.p[i] = (thread >> i & 1) != 0;
  return r;
}

std::string kernel_of(const std::vector<Instruction>& program) {
  std::string text = fmt::format(
      ".visible .entry k(.param .u64 out) {{\n.reg .b32 %r<{}>, %t, %u; .reg .b64 %d<{}>, %o, %x; .reg .pred "
      "%p<{}>;\n"
      "ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %x, %t, {}; add.u64 %o, %o, %x; add.u32 %u, "
      "%t, 1;\n",
      kWords, kLongs, kFlags, 8 * (kWords + kLongs + kFlags));
  for (unsigned i = 0; i < kWords; ++i)
    text += fmt::format("mad.lo.u32 %r{}, %u, {}, {};\n", i, 0x9e3779b1u >> i, i == 3 ? 0 : i << 28);
  for (unsigned i = 0; i < kLongs; ++i)
    text += fmt::format("cvt.u64.u32 %d{0}, %r{0}; mul.lo.u64 %d{0}, %d{0}, 0x2545f4914f6cdd1d;\n", i);
  for (unsigned i = 0; i < kFlags; ++i)
    text += fmt::format("and.b32 %u, %t, {}; setp.ne.u32 %p{}, %u, 0;\n", 1 << i, i);
  for (const Instruction& one : program) text += one.text + "\n";
  unsigned at = 0;
  for (unsigned i = 0; i < kWords; ++i, at += 8)
    text += fmt::format("cvt.u64.u32 %x, %r{}; st.global.u64 [%o+{}], %x;\n", i, at);
  for (unsigned i = 0; i < kLongs; ++i, at += 8) text += fmt::format("st.global.u64 [%o+{}], %d{};\n", at, i);
  for (unsigned i = 0; i < kFlags; ++i, at += 8)
    text += fmt::format("selp.u64 %x, 1, 0, %p{}; st.global.u64 [%o+{}], %x;\n", i, at);
  return text + "ret;\n}\n";
}

TEST_CASE("straight-line programs: registers of every thread are those of an interpreter") {
  for (U32 seed = 1; seed <= 120; ++seed) {
    Generator generator(seed);
    std::vector<Instruction> program;
    for (int i = 0; i < 60; ++i) program.push_back(generator.next());
    const std::string text = kernel_of(program);
    INFO("seed " << seed << "\n" << text);
    Device device(text);
    constexpr std::size_t kResults = kWords + kLongs + kFlags;
    const Address out = device.zeros<U64>(kResults * kThreads);
    device.run("k", {1, 1, 1}, {kThreads, 1, 1}, Arguments(out));
    const auto found = device.read<U64>(out, kResults * kThreads);
    for (unsigned t = 0; t < kThreads; ++t) {
      Registers r = begin(t);
      for (const Instruction& one : program) one.effect(r);
      const U64* const at = found.data() + t * kResults;
      for (unsigned i = 0; i < kWords; ++i) REQUIRE(at[i] == r.w[i]);
      for (unsigned i = 0; i < kLongs; ++i) REQUIRE(at[kWords + i] == r.d[i]);
      for (unsigned i = 0; i < kFlags; ++i) REQUIRE((at[kWords + kLongs + i] != 0) == r.p[i]);
    }
  }
}

}  // namespace
}  // namespace lockstep::exec::test::straight
