// Every form of PTX that real programs have: read, and printed again as it was.
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {
namespace {

constexpr FormSample kFormSamples[] = {
#define FORM(form, operands) {form, operands},
#include "tests/ptx/forms.inc"
#undef FORM
};

std::string statement(const FormSample& s) {
  return std::string(s.form) + (s.operands.empty() ? "" : " ") + std::string(s.operands) + ";";
}

/// Operands as commas outside brackets and braces separate them.
std::size_t count_operands(std::string_view text) {
  std::size_t count = !text.empty();
  int depth = 0;
  for (const char c : text) {
    depth += c == '{' || c == '[' || c == '(';
    depth -= c == '}' || c == ']' || c == ')';
    count += c == ',' && depth == 0;
  }
  return count;
}

}  // namespace

TEST_CASE("ptx forms: every form that real programs have is read and printed as it was") {
  for (const FormSample& s : kFormSamples) {
    INFO(statement(s));
    const Module m = parse(module_text(".func callee() { ret; }\n") +
                               kernel_text("L:\n" + statement(s)).substr(module_text("").size()),
                           "test.ptx");
    const Function& f = m.functions[1];
    REQUIRE(print(f.instructions[0], f, m) == statement(s));
    REQUIRE(print(f.instructions[0].form) == s.form);
    if (f.instructions[0].op() != Opcode::kCall)
      REQUIRE(f.instructions[0].operands.size() == count_operands(s.operands));
  }
}

TEST_CASE("ptx forms: words of a form in their sorts") {
  const Form f = parse_one("ld.relaxed.gpu.global.L1::no_allocate.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];").form;
  CHECK(f.op == Opcode::kLd);
  CHECK(f.vector == 4);
  CHECK(f.type() == Type::kF32);
  CHECK(f.space() == Space::kGlobal);
  CHECK(f.has(Mod::kRelaxed));
  CHECK(f.has(Mod::kGpu));
  CHECK(f.has(Mod::kL1NoAllocate));
  CHECK_FALSE(f.has(Mod::kAcquire));
  const Form mma =
      parse_one("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%r1}, {%r2}, {%r3}, {%r4};").form;
  CHECK(mma.shape == Shape{16, 8, 32});
  CHECK(mma.types.size() == 4);
  CHECK(mma.types[2] == Type::kU8);
  const Form copy = parse_one(
                        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], "
                        "16, [%r2];")
                        .form;
  CHECK(copy.spaces.size() == 2);
  CHECK(copy.space() == Space::kSharedCluster);
  CHECK(copy.spaces[1] == Space::kGlobal);
  CHECK(parse_one("cvt.rn.f16.f32 %h1, %f1;").form.type() == Type::kF16);
  CHECK(parse_one("cvt.rn.f16.f32 %h1, %f1;").form.last_type() == Type::kF32);
}

TEST_CASE("ptx forms: words apart from each other are one form") {
  CHECK(print(parse_one("ld .global\n .v2 /* two */ .b32 {%r1, %r2}, [%d1];").form) == "ld.global.v2.b32");
}

TEST_CASE("ptx forms: every name of the tables is found as itself") {
  for (unsigned i = 0; i <= static_cast<unsigned>(Type::kSurfref); ++i)
    CHECK(find_type(name(static_cast<Type>(i))) == static_cast<Type>(i));
  for (unsigned i = 0; i <= static_cast<unsigned>(Opcode::kWmma); ++i)
    CHECK(find_opcode(name(static_cast<Opcode>(i))) == static_cast<Opcode>(i));
  for (unsigned i = 0; i <= static_cast<unsigned>(Mod::k32x128b); ++i)
    CHECK(find_mod(name(static_cast<Mod>(i))) == static_cast<Mod>(i));
  CHECK(find_shape("m64n104k16") == Shape{64, 104, 16});
  CHECK_FALSE(find_shape("m64n100k16"));
  CHECK_FALSE(find_shape("m16n16k17"));
  CHECK_FALSE(find_shape("m16n16k16x"));
  CHECK(find_special("%envreg12")->index == 12);
  CHECK_FALSE(find_special("%envreg32"));
  CHECK_FALSE(find_special("%envreg"));
  CHECK_FALSE(find_special("%envreg01"));
  CHECK(find_special("%pm7")->special == Special::kPm);
  CHECK(find_special("%pm3_64")->special == Special::kPm3_64);
}

}  // namespace lockstep::ptx
