// Symbolic values of integer registers: where two registers have the same node, their values differ by their
// offsets, whatever a program began with.
#include "lower/linear_values.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <optional>
#include <random>
#include <string>

#include "lower/known_bits.hpp"
#include "ptx/liveness.hpp"
#include "tests/lower/interpreter.hpp"
#include "tests/lower/support.hpp"

namespace lockstep::lower::test {
namespace {

constexpr unsigned kInputs = 4, kWords = 24, kLongs = 16;

/// Straight integer arithmetic on %r and %d, of which the first kInputs of each are loaded.
class StraightCode {
 public:
  explicit StraightCode(unsigned seed) : random_(seed) {}

  ptx::Function function(unsigned length) {
    std::string text = fmt::format(
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() {{\n.reg .b32 %r<{}>;\n"
        ".reg .b64 %d<{}>;\n.reg .b64 %base;\n",
        kWords, kLongs);
    for (unsigned i = 0; i < kInputs; ++i)
      text += fmt::format("ld.global.b32 %r{0}, [%base+{1}];\nld.global.b64 %d{0}, [%base+{2}];\n", i, 4 * i,
                          8 * i + 64);
    for (unsigned i = 0; i < length; ++i) text += below(3) == 0 ? of_64() : of_32();
    return ptx::parse(text + "ret;\n}\n", "test").functions.front();
  }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  std::string word() { return fmt::format("%r{}", below(words_)); }
  std::string wide() { return fmt::format("%d{}", below(longs_)); }
  /// A register for a result: a new one as long as there are any.
  std::string to(unsigned& used, unsigned most, char prefix) {
    return fmt::format("%{}{}", prefix, used < most ? used++ : below(most));
  }
  std::string number() {
    static const char* const kNumbers[] = {"0",  "1",  "2",     "3",          "4",          "7",
                                           "16", "-1", "65536", "2147483647", "0x80000000", "1000003"};
    return kNumbers[below(12)];
  }
  std::string of_32() {
    const std::string a = word(), b = below(2) == 0 ? number() : word(), c = word();
    const std::string d = to(words_, kWords, 'r');
    switch (below(10)) {
      case 0:
        return fmt::format("mov.b32 {}, {};\n", d, b);
      case 1:
        return fmt::format("add.s32 {}, {}, {};\n", d, a, b);
      case 2:
        return fmt::format("sub.s32 {}, {}, {};\n", d, a, b);
      case 3:
        return fmt::format("mul.lo.s32 {}, {}, {};\n", d, a, b);
      case 4:
        return fmt::format("mad.lo.s32 {}, {}, {}, {};\n", d, a, b, c);
      case 5:
        return fmt::format("shl.b32 {}, {}, {};\n", d, a, below(35));
      case 6:
        return fmt::format("and.b32 {}, {}, {};\n", d, a, b);
      case 7:
        return fmt::format("or.b32 {}, {}, {};\n", d, a, b);
      case 8:
        return fmt::format("shr.{} {}, {}, {};\n", below(2) == 0 ? "u32" : "s32", d, a, below(31));
      default:
        return fmt::format("cvt.u32.u64 {}, {};\n", d, wide());
    }
  }
  std::string of_64() {
    const std::string a = wide(), b = below(2) == 0 ? number() : wide(), w = word();
    const std::string factor = below(2) == 0 ? number() : word();
    const std::string d = to(longs_, kLongs, 'd');
    switch (below(9)) {
      case 0:
        return fmt::format("mov.b64 {}, {};\n", d, b);
      case 1:
        return fmt::format("add.s64 {}, {}, {};\n", d, a, b);
      case 2:
        return fmt::format("sub.s64 {}, {}, {};\n", d, a, b);
      case 3:
        return fmt::format("mul.lo.s64 {}, {}, {};\n", d, a, b);
      case 4:
        return fmt::format("shl.b64 {}, {}, {};\n", d, a, below(66));
      case 5:
        return fmt::format("or.b64 {}, {}, {};\n", d, a, b);
      case 6:
        return fmt::format("cvt.{} {}, {};\n", below(2) == 0 ? "s64.s32" : "u64.u32", d, w);
      default:
        return fmt::format("mul.wide.{} {}, {}, {};\n", below(2) == 0 ? "s32" : "u32", d, w, factor);
    }
  }

  std::mt19937 random_;
  unsigned words_ = kInputs, longs_ = kInputs;
};

/// What LinearValues says of a straight function, instruction by instruction.
class Numbered {
 public:
  explicit Numbered(const ptx::Function& f) : possible_(possible_bits(f, {})), values_(possible_) {
    for (const ptx::Instruction& i : f.instructions) {
      if (i.op() == ptx::Opcode::kRet) break;
      const auto value = values_.result(i);
      known_ += value.has_value();
      REQUIRE(i.operands[0].kind == ptx::OperandKind::kRegister);
      values_.set(i.operands[0].reg, value ? *value : values_.fresh());
    }
  }
  [[nodiscard]] LinearValue of(ptx::RegisterId id) { return values_.of(id); }
  [[nodiscard]] std::size_t known() const { return known_; }

 private:
  std::vector<std::uint64_t> possible_;
  LinearValues values_;
  std::size_t known_ = 0;
};

/// Where a run loads its inputs, noise of the address, is of its number.
class Inputs : public RegisterFile {
 public:
  Inputs(const ptx::Function& f, unsigned run) {
    RegisterFile::write(register_of(f, "%base"), 0x1000 * (run + 1));
  }
};

/// By how much `name` is ahead of `like` after a body; nothing where they have different nodes.
std::optional<std::int64_t> ahead(const std::string& body, const std::string& name, const std::string& like) {
  const ptx::Function f =
      function_of("ld.global.v4.b32 {%i1, %i2, %i3, %i4}, [%r1];\nld.global.b64 %l1, [%r1+16];\n" + body);
  const std::vector<std::uint64_t> possible = possible_bits(f, {});
  LinearValues values(possible);
  for (const ptx::Instruction& i : f.instructions) {
    if (i.op() == ptx::Opcode::kRet) break;
    const auto value = values.result(i);
    for (const ptx::RegisterId id : ptx::register_use(i).writes)
      values.set(id, value ? *value : values.fresh());
  }
  const LinearValue a = values.of(register_of(f, name)), b = values.of(register_of(f, like));
  return a.node == b.node ? std::optional(a.offset - b.offset) : std::nullopt;
}

}  // namespace

TEST_CASE("registers with the same node differ by their offsets in random code, node 0 is zero") {
  std::size_t pairs = 0, constants = 0, known = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const ptx::Function f = StraightCode(seed).function(60);
    Numbered numbered(f);
    known += numbered.known();
    for (unsigned run = 0; run < 3; ++run) {
      Inputs file(f, 7 * seed + run);
      (void)Interpreter(f, file).run();
      for (ptx::RegisterId a = 0; a < f.registers.size(); ++a) {
        const LinearValue x = numbered.of(a);
        const std::uint64_t mask = ptx::bits(f.registers[a].type) == 64 ? ~std::uint64_t{0} : 0xffffffff;
        if (x.node == 0) {
          CAPTURE(seed, run, f.registers[a].name);
          REQUIRE(((file.read(a) ^ static_cast<std::uint64_t>(x.offset)) & mask) == 0);
          ++constants;
        }
        for (ptx::RegisterId b = 0; b < a; ++b) {
          const LinearValue y = numbered.of(b);
          if (x.node == 0 || x.node != y.node || f.registers[a].type != f.registers[b].type) continue;
          CAPTURE(seed, run, f.registers[a].name, f.registers[b].name, x.offset, y.offset);
          const auto by = static_cast<std::uint64_t>(x.offset) - static_cast<std::uint64_t>(y.offset);
          REQUIRE(((file.read(a) - file.read(b) - by) & mask) == 0);
          ++pairs;
        }
      }
    }
  }
  CHECK(known > 300 * 40);
  CHECK(constants > 1000);
  CHECK(pairs > 1000);
}

TEST_CASE("sums and products of constants go to the offset") {
  CHECK(ahead("add.s32 %i9, %i1, 12;\n", "%i9", "%i1") == 12);
  CHECK(ahead("sub.s32 %i9, %i1, 12;\n", "%i9", "%i1") == -12);
  CHECK(ahead("mov.b32 %i2, 8;\nadd.s32 %i9, %i2, %i1;\n", "%i9", "%i1") == 8);
  CHECK(ahead("add.s32 %i2, %i1, 4;\nshl.b32 %i3, %i2, 3;\nmul.lo.s32 %i9, %i1, 8;\n", "%i3", "%i9") == 32);
  CHECK(ahead("mul.lo.s32 %i9, %i1, 1;\n", "%i9", "%i1") == 0);
  CHECK(ahead("mad.lo.s32 %i3, %i1, 4, 20;\nshl.b32 %i9, %i1, 2;\n", "%i3", "%i9") == 20);
  CHECK(ahead("add.s32 %i3, %i1, %i2;\nadd.s32 %i4, %i2, %i1;\nadd.s32 %i9, %i4, 1;\n", "%i9", "%i3") == 1);
  CHECK(ahead("add.s32 %i9, %i1, 0x7fffffff;\nadd.s32 %i9, %i9, 1;\n", "%i9", "%i1") == -2147483648);
}

TEST_CASE("a wide product of two constants has 64 bits") {
  CHECK(ahead("mov.b32 %i1, 65536;\nmul.wide.u32 %l4, %i1, %i1;\nmov.b64 %l5, 0;\n", "%l4", "%l5") ==
        std::int64_t{1} << 32);
  CHECK(ahead("mov.b32 %i1, 0x40000000;\nmul.wide.s32 %l4, %i1, 2;\nmov.b64 %l5, 0;\n", "%l4", "%l5") ==
        std::int64_t{1} << 31);
}

TEST_CASE("a number that a conversion or wide product would change is not taken as it is") {
  CHECK(ahead("cvt.u32.u8 %i5, 44;\nmov.b32 %i6, 44;\n", "%i5", "%i6") == 0);
  CHECK_FALSE(ahead("cvt.u32.u8 %i5, 300;\nmov.b32 %i6, 0;\n", "%i5", "%i6"));
  CHECK_FALSE(ahead("cvt.s64.s32 %l5, 0x80000000;\nmov.b64 %l6, 0;\n", "%l5", "%l6"));
  CHECK_FALSE(ahead("mul.wide.s32 %l5, 0x80000000, 2;\nmov.b64 %l6, 0;\n", "%l5", "%l6"));
}

TEST_CASE("an or of values without a common bit is a sum, another one is not") {
  CHECK(ahead("shl.b32 %i5, %i1, 4;\nor.b32 %i9, %i5, 12;\n", "%i9", "%i5") == 12);
  CHECK_FALSE(ahead("shl.b32 %i5, %i1, 3;\nor.b32 %i9, %i5, 12;\n", "%i9", "%i5"));
  CHECK(ahead("shl.b32 %i5, %i1, 4;\nand.b32 %i6, %i4, 15;\nor.b32 %i9, %i5, %i6;\nadd.s32 %i8, %i6, %i5;\n",
              "%i9", "%i8") == 0);
}

TEST_CASE("the same operation on the same values has the same node, on others or after a write another one") {
  CHECK(ahead("xor.b32 %i9, %i1, %i2;\nxor.b32 %i8, %i1, %i2;\n", "%i9", "%i8") == 0);
  CHECK_FALSE(ahead("xor.b32 %i9, %i1, %i2;\nxor.b32 %i8, %i1, %i3;\n", "%i9", "%i8"));
  CHECK_FALSE(ahead("xor.b32 %i9, %i1, %i2;\nand.b32 %i8, %i1, %i2;\n", "%i9", "%i8"));
  CHECK_FALSE(ahead("shr.u32 %i9, %i1, 2;\nshr.s32 %i8, %i1, 2;\n", "%i9", "%i8"));
  CHECK_FALSE(
      ahead("xor.b32 %i9, %i1, %i2;\nld.global.b32 %i1, [%r1];\nxor.b32 %i8, %i1, %i2;\n", "%i9", "%i8"));
  CHECK_FALSE(ahead("mul.hi.u32 %i9, %i1, 8;\nmul.lo.u32 %i8, %i1, 8;\n", "%i9", "%i8"));
  CHECK(ahead("cvt.s64.s32 %l3, %i1;\ncvt.s64.s32 %l4, %i1;\n", "%l4", "%l3") == 0);
  CHECK_FALSE(ahead("cvt.s64.s32 %l3, %i1;\ncvt.u64.u32 %l4, %i1;\n", "%l4", "%l3"));
}

TEST_CASE("nothing is known of guarded, floating-point and narrow arithmetic and of what makes a carry") {
  const auto has_value = [](const std::string& instruction) {
    const ptx::Function f = function_of(instruction);
    const std::vector<std::uint64_t> possible(f.registers.size(), ~std::uint64_t{0});
    return LinearValues(possible).result(f.instructions.at(1)).has_value();
  };
  CHECK(has_value("add.s32 %i1, %i2, %i3;\n"));
  CHECK(has_value("cvta.global.u64 %l1, %l2;\n"));
  CHECK_FALSE(has_value("@%p1 add.s32 %i1, %i2, %i3;\n"));
  CHECK_FALSE(has_value("add.f32 %f1, %f2, %f3;\n"));
  CHECK_FALSE(has_value("cvt.rn.f32.s32 %f1, %i2;\n"));
  CHECK_FALSE(has_value("add.s16 %h1, %h2, %h3;\n"));
  CHECK_FALSE(has_value("add.cc.u32 %i1, %i2, %i3;\n"));
  CHECK_FALSE(has_value("min.s32 %i1, %i2, %i3;\n"));
  CHECK_FALSE(has_value("mov.u32 %i1, %tid.x;\n"));
  CHECK_FALSE(has_value("ld.global.u32 %i1, [%r1];\n"));
}

}  // namespace lockstep::lower::test
