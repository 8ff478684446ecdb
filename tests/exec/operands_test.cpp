// Operands of every kind where instructions take them: literals as the instruction's type says, vectors,
// addresses of variables, predicates. Expected values are worked out by hand from the PTX ISA.
#include <bit>
#include <catch2/catch.hpp>

#include "tests/exec/one_thread.hpp"

namespace lockstep::exec::test {
namespace {

struct OperandRow {
  std::string statements, result;
  std::uint64_t expected;
};

void check_operands(const std::vector<OperandRow>& rows) {
  for (const OperandRow& row : rows) {
    INFO(row.statements);
    CHECK(value_after(row.statements, row.result) == row.expected);
  }
}

std::uint64_t single(float x) { return std::bit_cast<std::uint32_t>(x); }
std::uint64_t wide(double x) { return std::bit_cast<std::uint64_t>(x); }
constexpr std::uint64_t kMinus1 = ~std::uint64_t{0};

}  // namespace

TEST_CASE("operands: integer literals are cut to the instruction's width, with its sign") {
  check_operands({
      {"mov.u32 %r1, -1;", "%r1", 0xffffffff},
      {"mov.s16 %h1, -2;", "%h1", 0xfffe},
      {"mov.s64 %d1, -3;", "%d1", kMinus1 - 2},
      {"mov.u64 %d1, 0xffffffff;", "%d1", 0xffffffff},
      {"mov.s64 %d1, 5; add.s64 %d1, %d1, -6;", "%d1", kMinus1},
      {"mov.u32 %r1, 3; add.u32 %r1, %r1, 0xfffffffe;", "%r1", 1},
      {"sub.s32 %r1, -2147483648, 1;", "%r1", 0x7fffffff},
      {"mul.wide.s32 %d1, -3, 2;", "%d1", kMinus1 - 5},
      {"mul.wide.u32 %d1, -3, 2;", "%d1", 0x1fffffffa},
      {"mul.wide.u16 %r1, 7, 65535;", "%r1", 7 * 65535},
      {"mul.wide.s16 %r1, 7, 65535;", "%r1", 0xfffffff9},
      {"mad.wide.s16 %r1, -3, 5, -1;", "%r1", 0xfffffff0},
      {"mad.wide.u32 %d1, -1, 2, -1;", "%d1", 0x1fffffffd},
      {"mad.hi.s32 %r1, -1, 1, 5;", "%r1", 4},
      {"shl.b64 %d1, 1, 63;", "%d1", 1ull << 63},
      {"shl.b32 %r1, 1, -1;", "%r1", 0},
      {"shr.s64 %d1, -8, 1;", "%d1", kMinus1 - 3},
      {"shr.u32 %r1, -8, 28;", "%r1", 15},
      {"shr.s32 %r1, -8, -1;", "%r1", 0xffffffff},
      {"shf.r.wrap.b32 %r1, 0x89abcdef, 0x01234567, 36;", "%r1", 0x789abcde},
      {"bfe.s32 %r1, -16, 4, 4;", "%r1", 0xffffffff},
      {"bfe.u64 %d1, -1, 60, 8;", "%d1", 15},
      {"bfi.b64 %d1, -1, 0, 60, 2;", "%d1", 3ull << 60},
      {"and.b16 %h1, -1, 0x1ff00;", "%h1", 0xff00},
      {"popc.b64 %r1, -1;", "%r1", 64},
      {"clz.b32 %r1, 1;", "%r1", 31},
      {"dp4a.u32.s32 %r1, 0x01020304, -1, 10;", "%r1", 0},
      {"sad.s16 %h1, -3, 4, 1;", "%h1", 8},
      {"sad.u16 %h1, -3, 4, 1;", "%h1", 0xfffd - 4 + 1},
      {"min.u64 %d1, -1, 5;", "%d1", 5},
      {"min.s64 %d1, -1, 5;", "%d1", kMinus1},
      {"div.s32 %r1, -7, 2;", "%r1", 0xfffffffd},
      {"rem.s32 %r1, -7, 2;", "%r1", 0xffffffff},
      {"rem.u16 %h1, -7, 10;", "%h1", 65529 % 10},
      {"prmt.b32 %r1, 0x33221100, 0x77665544, 0x7531;", "%r1", 0x77553311},
  });
}

TEST_CASE("operands: literals of instructions with several types are of the source's type") {
  check_operands({
      {"cvt.s64.s8 %d1, -1;", "%d1", kMinus1},
      {"cvt.u64.u8 %d1, -1;", "%d1", 255},
      {"cvt.sat.u8.s32 %r1, -1;", "%r1", 0},
      {"cvt.sat.s8.s32 %r1, -1000;", "%r1", 0xffffff80},
      {"cvt.rn.f32.s32 %f1, -3;", "%f1", single(-3)},
      {"cvt.rn.f64.u32 %e1, -1;", "%e1", wide(4294967295.0)},
      {"cvt.f64.f32 %e1, 1.5;", "%e1", wide(1.5)},
      {"cvt.rzi.s32.f64 %r1, -2.75;", "%r1", 0xfffffffe},
      {"cvt.rn.f16.f32 %h1, -2.0;", "%h1", 0xc000},
      {"cvt.rn.bf16x2.f32 %r1, 1.0, -2.0;", "%r1", 0x3f80c000},
      {"setp.lt.s32 %p1, -1, 1;", "%p1", 1},
      {"setp.lt.u32 %p1, -1, 1;", "%p1", 0},
      {"setp.hi.u16 %p1, -1, 1;", "%p1", 1},
      {"setp.gt.s64 %p1, -1, 1;", "%p1", 0},
      {"setp.eq.f32 %p1, 0.1, 0f3DCCCCCD;", "%p1", 1},
      {"setp.gtu.f64 %p1, 0d7FF8000000000000, 1.0;", "%p1", 1},
      {"set.lt.u32.f32 %r1, -1.0, 1.0;", "%r1", 0xffffffff},
      {"set.lt.f32.s32 %f1, -1, 1;", "%f1", single(1)},
      {"setp.eq.s32 %p1, 1, 1; selp.f32 %f1, -1.5, 2.5, %p1;", "%f1", single(-1.5f)},
      {"setp.ne.s32 %p1, 1, 1; selp.s64 %d1, 7, -7, %p1;", "%d1", kMinus1 - 6},
      {"selp.u32 %r1, 5, 6, 1;", "%r1", 5},
      {"slct.f32.s32 %f1, 1.5, 2.5, -1;", "%f1", single(2.5f)},
      {"slct.s32.f32 %r1, -1, 2, -0.0;", "%r1", 0xffffffff},
      {"slct.u64.f32 %d1, 1, 2, -0.5;", "%d1", 2},
  });
}

TEST_CASE("operands: floating-point literals have the precision of the instruction") {
  check_operands({
      {"mov.f32 %f1, 0.1;", "%f1", 0x3dcccccd},
      {"mov.f64 %e1, 0.1;", "%e1", 0x3fb999999999999a},
      {"mov.f32 %f1, 0d3FF8000000000000;", "%f1", single(1.5f)},
      {"mov.b32 %r1, 0fC0490FDB;", "%r1", 0xc0490fdb},
      {"add.f64 %e1, 0.1, 0.2;", "%e1", wide(0.30000000000000004)},
      {"add.f32 %f1, 16777216.0, 1.0;", "%f1", single(16777216.0f)},
      {"fma.rn.f32 %f1, 3.0, -0.5, 0.25;", "%f1", single(-1.25f)},
      {"fma.rn.f64 %e1, 1e300, 1e300, -1.0;", "%e1", 0x7ff0000000000000},
      {"mul.f32 %f1, 1e-30, 1e-10;", "%f1", single(1e-30f * 1e-10f)},
      {"mul.ftz.f32 %f1, 1e-30, -1e-10;", "%f1", 0x80000000},
      {"copysign.f32 %f1, -0.0, 2.0;", "%f1", single(-2.0f)},
      {"testp.subnormal.f64 %p1, 0d0000000000000001;", "%p1", 1},
      {"min.f32 %f1, 0f7FC00000, 2.0;", "%f1", single(2.0f)},
      {"sqrt.rn.f32 %f1, 2.25;", "%f1", single(1.5f)},
      {"div.rn.f64 %e1, 1.0, -4.0;", "%e1", wide(-0.25)},
  });
}

TEST_CASE("operands: values in memory instructions") {
  const auto cell_after = [](const std::string& statement, std::uint64_t before) {
    Statements s{statement};
    s.cells[1] = before;
    s.run({});
    return s.cells[1];
  };
  const std::uint64_t old = 0x8877665544332211;
  CHECK(cell_after("st.global.u8 [%d0+9], -1;", old) == 0x887766554433ff11);
  CHECK(cell_after("st.global.s16 [%d0+10], -2;", old) == 0x88776655fffe2211);
  CHECK(cell_after("st.global.f32 [%d0+12], 2.5;", old) == (single(2.5f) << 32 | 0x44332211));
  CHECK(cell_after("st.global.f64 [%d0+8], -2.5;", old) == wide(-2.5));
  CHECK(cell_after("st.global.v4.u16 [%d0+8], {1, -1, 3, 0x54};", old) == 0x00540003ffff0001);
  CHECK(cell_after("st.global.v2.f32 [%d0+8], {1.0, -1.0};", old) == (single(-1) << 32 | single(1)));
  CHECK(cell_after("add.u64 %d1, %d0, 64; st.global.u64 [%d1+-56], 5;", old) == 5);
  CHECK(cell_after("add.u64 %d1, %d0, 64; st.global.u64 [%d1-56], -5;", old) == kMinus1 - 4);
  CHECK(cell_after("atom.global.exch.b64 %d1, [%d0+8], -1;", old) == kMinus1);
  CHECK(cell_after("atom.global.cas.b32 %r1, [%d0+8], 0x44332211, -1;", old) == 0x88776655ffffffff);
  CHECK(cell_after("red.global.add.f32 [%d0+8], 0.5;", single(1)) == single(1.5f));
  CHECK(cell_after("red.global.add.f64 [%d0+8], 0.5;", wide(1)) == wide(1.5));
  CHECK(cell_after("red.global.add.s32 [%d0+8], -1;", 0) == 0xffffffff);
  CHECK(cell_after("red.global.max.s64 [%d0+8], -1;", kMinus1 - 7) == kMinus1);
  CHECK(cell_after("red.global.max.u64 [%d0+8], -1;", 7) == kMinus1);
  CHECK(cell_after("@!%p1 st.global.u64 [%d0+8], 1; setp.eq.u32 %p2, 1, 1; @!%p2 st.global.u64 [%d0+8], 2;",
                   old) == 1);
}

TEST_CASE("operands: vectors are packed and unpacked from the lowest bits on") {
  check_operands({
      {"mov.b64 %d1, {1, -1};", "%d1", 0xffffffff00000001},
      {"mov.b32 %r1, {1, -2};", "%r1", 0xfffe0001},
      {"mov.b64 %d1, {1, 2, 3, -4};", "%d1", 0xfffc000300020001},
      {"mov.b64 %d1, {0f3F800000, 0f40000000};", "%d1", 0x400000003f800000},
      {"mov.b64 {%r1, %r2}, 0x1122334455667788;", "%r2", 0x11223344},
      {"mov.b64 {_, %r2}, 0x1122334455667788;", "%r2", 0x11223344},
      {"mov.b64 {%h1, %h2, %h3, %h4}, 0x1122334455667788;", "%h3", 0x3344},
      {"mov.b32 {%h1, %h2}, 0x11223344;", "%h2", 0x1122},
      {"mov.u32 %r1, 5; mov.b64 %d1, {%r1, %tid.y};", "%d1", 5},
  });
}

TEST_CASE("operands: variables stand for their addresses, also with an offset") {
  Statements s{
      "ld.global.u32 %r1, [table+8]; mov.u64 %d1, table+4; ld.global.u32 %r2, [%d1];"
      "ld.global.u64 %d2, [pointer]; ld.u32 %r3, [%d2]; ld.const.u32 %r4, [fixed+4];"
      "mov.u64 %d3, fixed; ld.const.u32 %r5, [%d3]; sub.u64 %d4, %d1, 4; sub.u64 %d4, %d4, %d2;"
      "ld.global.u8 %r6, [text+1];",
      ".global .u32 table[4] = {10, 11, 12, 13};\n.global .u64 pointer = generic(table)+12;\n"
      ".const .u32 fixed[2] = {20, 21};\n.global .align 1 .b8 text[3] = {97, 98, 0};\n"};
  CHECK(s.run({"%r1", "%r2", "%r3", "%r4", "%r5", "%d4", "%r6"}) ==
        std::vector<std::uint64_t>{12, 11, 13, 21, 20, kMinus1 - 11, 98});
}

TEST_CASE("operands: predicates and their negation") {
  const std::string set = "setp.eq.u32 %p1, 1, 1; setp.eq.u32 %p2, 1, 2; ";
  check_operands({
      {set + "setp.eq.and.u32 %p3, 1, 1, !%p2;", "%p3", 1},
      {set + "setp.eq.or.u32 %p3, 1, 2, !%p1;", "%p3", 0},
      {set + "setp.eq.xor.u32 %p3|%p4, 1, 1, !%p2;", "%p4", 1},
      {set + "set.eq.and.u32.u32 %r1, 1, 1, !%p1;", "%r1", 0},
      {set + "and.pred %p3, %p1, %p2; not.pred %p3, %p3; xor.pred %p3, %p3, %p2;", "%p3", 1},
      {set + "mov.pred %p3, 1; and.pred %p3, %p3, %p1;", "%p3", 1},
      {set + "vote.sync.any.pred %p3, !%p1, 1;", "%p3", 0},
      {set + "vote.sync.ballot.b32 %r1, !%p2, 1;", "%r1", 1},
      {set + "lop3.or.b32 %r1|%p3, 5, 3, 6, 0x80, !%p1;", "%p3", 0},
      {set + "bar.red.popc.u32 %r1, 0, !%p2;", "%r1", 1},
      {set + "bar.red.and.pred %p3, 0, !%p1;", "%p3", 0},
      {set + "mov.u32 %r1, 1; @%p2 mov.u32 %r1, 2; @!%p1 mov.u32 %r1, 3;", "%r1", 1},
  });
}

}  // namespace lockstep::exec::test
