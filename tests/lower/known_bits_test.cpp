// Which bits of registers can be other than zero: no value that a program computes has another bit, and what
// is known of single instructions is worked out by hand.
#include "lower/known_bits.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "tests/lower/interpreter.hpp"
#include "tests/lower/random_kernel.hpp"
#include "tests/lower/support.hpp"

namespace lockstep::lower::test {
namespace {

/// Looks at each value that an instruction writes.
class BitChecker : public RegisterFile {
 public:
  BitChecker(const ptx::Function& f, const std::vector<std::uint64_t>& possible)
      : f_(f), possible_(possible) {}
  void write(ptx::RegisterId id, std::uint64_t value) override {
    RegisterFile::write(id, value);
    if (f_.registers[id].type == ptx::Type::kPred) return;
    ++values_;
    limited_ += possible_[id] != (ptx::bits(f_.registers[id].type) == 64 ? ~std::uint64_t{0} : 0xffffffff);
    wrong_ += (value & ~possible_[id]) != 0;
  }
  [[nodiscard]] std::size_t values() const { return values_; }
  /// Of registers of which some bit is known to be zero.
  [[nodiscard]] std::size_t limited() const { return limited_; }
  [[nodiscard]] std::size_t wrong() const { return wrong_; }

 private:
  const ptx::Function& f_;
  const std::vector<std::uint64_t>& possible_;
  std::size_t values_ = 0, limited_ = 0, wrong_ = 0;
};

constexpr std::uint64_t kAll = ~std::uint64_t{0}, kAll32 = 0xffffffff;

/// Of `name` in a kernel that loads %i1, %i2 and %l1.
std::uint64_t bits_of(const std::string& name, const std::string& body) {
  const ptx::Module module = module_of(
      "ld.global.v2.b32 {%i1, %i2}, [%r1];\nld.global.b64 %l1, [%r1+8];\nld.global.b16 %h1, [%r1+16];\n" +
      body);
  const ptx::Function& f = module.functions.front();
  return possible_bits(f, module.variables)[register_of(f, name)];
}

}  // namespace

TEST_CASE("no value of a random kernel has a bit that is known to be zero") {
  std::size_t values = 0, limited = 0;
  for (unsigned seed = 1000; seed < 1150; ++seed) {
    CAPTURE(seed);
    const ptx::Function f = ptx::parse(random_kernel(seed), "test").functions.front();
    const auto possible = possible_bits(f, {});
    BitChecker file(f, possible);
    (void)Interpreter(f, file).run();
    CHECK(file.wrong() == 0);
    values += file.values();
    limited += file.limited();
  }
  CHECK(values > 10'000);
  CHECK(limited > values / 20);
}

TEST_CASE("what is loaded, read from a special register or written by several is not known") {
  CHECK(bits_of("%i1", "") == kAll32);
  CHECK(bits_of("%l1", "") == kAll);
  CHECK(bits_of("%h1", "") == 0xffff);
  CHECK(bits_of("%i3", "mov.u32 %i3, %tid.x;\n") == kAll32);
  CHECK(bits_of("%l2", "mov.b64 %l2, {%i1, %i2};\n") == kAll);
  CHECK(bits_of("%i3", "mov.b64 {%i3, %i4}, %l1;\n") == kAll32);
}

TEST_CASE("moves and logic keep what is known of their sources") {
  CHECK(bits_of("%i3", "mov.b32 %i3, 40;\n") == 40);
  CHECK(bits_of("%i3", "mov.b32 %i3, -16;\n") == 0xfffffff0);
  CHECK(bits_of("%l2", "mov.b64 %l2, -16;\n") == ~std::uint64_t{15});
  CHECK(bits_of("%i3", "and.b32 %i3, %i1, 48;\n") == 48);
  CHECK(bits_of("%i4", "and.b32 %i3, %i1, 48;\nor.b32 %i4, %i3, 5;\n") == 53);
  CHECK(bits_of("%i4", "and.b32 %i3, %i1, 48;\nxor.b32 %i4, %i3, 16;\n") == 48);
  CHECK(bits_of("%i4", "and.b32 %i3, %i1, 48;\nnot.b32 %i4, %i3;\n") == kAll32);
}

TEST_CASE("sums carry upwards only where both terms may have a bit") {
  CHECK(bits_of("%i4", "and.b32 %i3, %i1, 48;\nadd.s32 %i4, %i3, 7;\n") == 55);
  CHECK(bits_of("%i4", "and.b32 %i3, %i1, 48;\nadd.s32 %i4, %i3, 32;\n") == 0xfffffff0);
  CHECK(bits_of("%i4", "and.b32 %i3, %i1, 48;\nsub.s32 %i4, %i3, 8;\n") == 0xfffffff8);
  CHECK(bits_of("%l2", "and.b64 %l3, %l1, 0x100;\nadd.s64 %l2, %l3, 0x100;\n") == ~std::uint64_t{0xff});
}

TEST_CASE("products and shifts move what is known") {
  CHECK(bits_of("%i3", "mul.lo.s32 %i3, %i1, 24;\n") == 0xfffffff8);
  CHECK(bits_of("%l2", "mul.wide.u32 %l2, %i1, 16;\n") == ~std::uint64_t{15});
  CHECK(bits_of("%i3", "mul.hi.u32 %i3, %i1, 16;\n") == kAll32);
  CHECK(bits_of("%i3", "mul.lo.s32 %i3, %i1, 0;\n") == 0);
  CHECK(bits_of("%i3", "mad.lo.s32 %i3, %i1, 16, 4;\n") == 0xfffffff4);
  CHECK(bits_of("%i4", "and.b32 %i3, %i1, 15;\nshl.b32 %i4, %i3, 2;\n") == 60);
  CHECK(bits_of("%i3", "shl.b32 %i3, %i1, 28;\n") == 0xf0000000);
  CHECK(bits_of("%i3", "shl.b32 %i3, %i1, 32;\n") == 0);
  CHECK(bits_of("%i3", "shr.u32 %i3, %i1, 28;\n") == 15);
  CHECK(bits_of("%i3", "shr.s32 %i3, %i1, 28;\n") == kAll32);
  CHECK(bits_of("%i4", "shr.u32 %i3, %i1, 1;\nshr.s32 %i4, %i3, 28;\n") == 7);
  CHECK(bits_of("%i3", "shl.b32 %i3, %i1, %i2;\n") == kAll32);
}

TEST_CASE(
    "conversions extend by the sign of their source, and into wider registers by that of their result") {
  CHECK(bits_of("%l2", "cvt.u64.u32 %l2, %i1;\n") == kAll32);
  CHECK(bits_of("%l2", "cvt.s64.s32 %l2, %i1;\n") == kAll);
  CHECK(bits_of("%l2", "and.b32 %i3, %i1, 0x7f;\ncvt.s64.s32 %l2, %i3;\n") == 0x7f);
  CHECK(bits_of("%i3", "cvt.u32.u64 %i3, %l1;\n") == kAll32);
  CHECK(bits_of("%i3", "cvt.u32.u8 %i3, %i1;\n") == 0xff);
  CHECK(bits_of("%i3", "cvt.s32.s8 %i3, %i1;\n") == kAll32);
  CHECK(bits_of("%i3", "cvt.u8.u32 %i3, %i1;\n") == 0xff);
  // "Operand Size Exceeding Instruction-Type Size" of the ISA: extended to the register's width by sign.
  CHECK(bits_of("%i3", "cvt.s8.s32 %i3, %i1;\n") == kAll32);
  CHECK(bits_of("%i4", "and.b32 %i3, %i1, 0x17f;\ncvt.s8.s32 %i4, %i3;\n") == 0x7f);
  CHECK(bits_of("%i3", "cvt.rzi.s32.f32 %i3, %f1;\n") == kAll32);
}

TEST_CASE("parameters of a function in registers are not known") {
  const ptx::Function f = ptx::parse(
                              ".version 7.0\n.target sm_75\n.address_size 64\n"
                              ".func (.reg .b32 r) f(.reg .b32 a, .reg .b64 b) {\nor.b32 r, a, 1;\nret;\n}\n",
                              "test")
                              .functions.front();
  const auto possible = possible_bits(f, {});
  for (const char* const name : {"r", "a"}) CHECK(possible[register_of(f, name)] == kAll32);
}

TEST_CASE("what is known is what holds of every write, also around loops") {
  CHECK(bits_of("%i3", "mov.b32 %i3, 4;\nmov.b32 %i3, 32;\n") == 36);
  const std::string loop =
      "mov.b32 %i3, 0;\nLOOP:\nadd.s32 %i3, %i3, 16;\nsetp.lt.s32 %p1, %i3, %i1;\n@%p1 bra LOOP;\n";
  CHECK(bits_of("%i3", loop) == 0xfffffff0);
  CHECK(bits_of("%i4", loop + "or.b32 %i4, %i3, 4;\n") == 0xfffffff4);
}

TEST_CASE("addresses are as aligned as the variable, in shared memory to 16 bytes at least, in local to 8") {
  const ptx::Module module = ptx::parse(
      ".version 7.0\n.target sm_75\n.address_size 64\n.global .align 4 .b8 words[64];\n"
      ".global .align 32 .b8 wide[64];\n.shared .align 1 .b8 bytes[64];\n.shared .align 64 .b8 lines[64];\n"
      ".visible .entry k() {\n.reg .b64 %d<9>;\n.local .align 1 .b8 own[16];\n"
      "mov.u64 %d0, words;\nmov.u64 %d1, wide;\nmov.u64 %d2, bytes;\nmov.u64 %d3, lines;\n"
      "mov.u64 %d4, own;\nmov.u64 %d5, lines+4;\nmov.u64 %d6, words+16;\nret;\n}\n",
      "test");
  const ptx::Function& f = module.functions.front();
  const auto possible = possible_bits(f, module.variables);
  const auto zeros = [&](const char* name) { return ~possible[register_of(f, name)]; };
  CHECK(zeros("%d0") == 3);
  CHECK(zeros("%d1") == 31);
  CHECK(zeros("%d2") == 15);
  CHECK(zeros("%d3") == 63);
  CHECK(zeros("%d4") == 7);
  CHECK(zeros("%d5") == (63 & ~4u));
  CHECK(zeros("%d6") == 3);
}

}  // namespace lockstep::lower::test
