// Loads, stores and atomics of every width and space.
#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/exec/support.hpp"
#include "util/error.hpp"

namespace lockstep::exec::test {
namespace {

/// One instruction between a load of its operands and a store of its result, by 32 threads.
std::vector<std::uint64_t> execute(const std::string& body, std::vector<std::uint64_t>& cells,
                                   unsigned threads = 32) {
  Device device(
      ".visible .entry run(.param .u64 cells, .param .u64 out) {\n"
      "  .reg .pred %p; .reg .b16 %h<6>; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .b128 %q<3>;\n"
      "  .shared .align 16 .b8 shared[1024];\n  .local .align 16 .b8 local[64];\n"
      "  ld.param.u64 %rd1, [cells];\n  ld.param.u64 %rd2, [out];\n  mov.u32 %r1, %tid.x;\n"
      "  mul.wide.u32 %rd3, %r1, 8;\n  add.u64 %rd2, %rd2, %rd3;\n  mov.u64 %rd10, 0;\n" +
      body + "\n  st.global.u64 [%rd2], %rd10;\n  ret;\n}");
  const Address at = device.array(cells), out = device.zeros<std::uint64_t>(threads);
  device.run("run", {1, 1, 1}, {threads, 1, 1}, Arguments(at, out));
  cells = device.read<std::uint64_t>(at, cells.size());
  return device.read<std::uint64_t>(out, threads);
}

TEST_CASE("narrow loads extend to the register by the sign of their type") {
  std::vector<std::uint64_t> cells{0xfedcba9876543280};
  CHECK(execute("ld.global.u8 %r2, [%rd1]; mov.b64 %rd10, {%r2, %r1};", cells)[0] == 0x80);
  CHECK(execute("ld.global.s8 %r2, [%rd1]; mov.b64 %rd10, {%r2, %r1};", cells)[0] == 0xffffff80);
  CHECK(execute("ld.global.s8 %rd10, [%rd1];", cells)[0] == 0xffffffffffffff80);
  CHECK(execute("ld.global.s16 %rd10, [%rd1+6];", cells)[0] == 0xfffffffffffffedc);
  CHECK(execute("ld.global.b16 %rd10, [%rd1+6];", cells)[0] == 0xfedc);
  CHECK(execute("ld.global.s32 %rd10, [%rd1+4];", cells)[0] == 0xfffffffffedcba98);
  CHECK(execute("ld.global.u32 %rd10, [%rd1+4];", cells)[0] == 0xfedcba98);
}

TEST_CASE("vectors, sinks and 128 bits") {
  std::vector<std::uint64_t> cells{0x0706050403020100, 0x0f0e0d0c0b0a0908, 0, 0, 0, 0};
  CHECK(execute("ld.global.v4.u32 {%r2, _, %r3, %r4}, [%rd1]; mov.b64 %rd10, {%r2, %r4};", cells)[5] ==
        0x0f0e0d0c03020100);
  CHECK(execute("ld.global.v4.u8 {%r2, %r3, %r4, %r5}, [%rd1+4]; mov.b64 %rd10, {%r5, %r2};", cells)[5] ==
        0x0000000400000007);
  execute(
      "ld.global.b128 %q1, [%rd1]; st.global.b128 [%rd1+16], %q1; ld.global.v2.b64 {%rd4, %rd5}, [%rd1];"
      "st.global.v2.b64 [%rd1+32], {%rd5, %rd4};",
      cells);
  CHECK(cells[2] == cells[0]);
  CHECK(cells[3] == cells[1]);
  CHECK(cells[4] == cells[1]);
  CHECK(cells[5] == cells[0]);
}

/// What the refusal of an instruction says.
std::string refusal_of_code(const std::string& code) {
  std::vector<std::uint64_t> cells(8);
  try {
    execute(code, cells);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

TEST_CASE("128 bits in a narrower register or a constant are refused: they would reach behind it") {
  for (const char* code :
       {"mov.b128 %rd4, %q1;", "mov.b128 %q1, %rd4;", "mov.b128 %r1, %q1;", "mov.b128 %q1, 5;",
        "mov.b128 %rd4, {%rd5, %rd6};", "mov.b128 {%rd5, %rd6}, %rd4;", "ld.global.b128 %rd11, [%rd1];",
        "ld.global.v2.b128 {%q0, %r11}, [%rd1];", "ldu.global.b128 %rd11, [%rd1];",
        "st.global.b128 [%rd1], %rd11;", "st.global.b128 [%rd1], 5;", "st.global.b128 [%rd1], %tid.x;",
        "atom.global.exch.b128 %rd11, [%rd1], %q0;", "atom.global.exch.b128 %q0, [%rd1], %rd11;",
        "atom.global.cas.b128 %q0, [%rd1], %q1, 5;", "ld.global.b8x16 %r11, [%rd1];"}) {
    INFO(code);
    CHECK_THAT(refusal_of_code(code), Catch::Contains("is expected to be a register of .b128"));
  }
  for (const char* code : {"cvt.rzi.ftz.s32.f32 %q0, %r1;", "ld.global.b64 %q0, [%rd1];",
                           "mov.b64 %rd4, %q0;", "st.global.s8 [%rd1], %q0;", "mov.b128 %q0, {%q1, %rd4};"}) {
    INFO(code);
    CHECK_THAT(refusal_of_code(code), Catch::Contains("in a register of .b128 is not supported"));
  }
  std::vector<std::uint64_t> cells{3, 4};
  CHECK(execute("ld.global.b128 %q0, [%rd1]; mov.b128 %q1, %q0; mov.b128 {_, %rd10}, %q1;", cells)[0] == 4);
  CHECK(execute("ld.global.b128 _, [%rd1]; mov.b64 %rd10, {0f3F800000, 2};", cells)[0] == 0x23f800000);
}

TEST_CASE("wider accesses than there are, and operations on 128 bits, are refused") {
  CHECK_THAT(refusal_of_code("ld.global.b1024 %q0, [%rd1];"), Catch::Contains("values of .b1024"));
  CHECK_THAT(refusal_of_code("ld.global.v4.b128 {%q0, %q1, %q2, _}, [%rd1];"), Catch::Contains("64 bytes"));
  CHECK_THAT(refusal_of_code("st.global.v4.b128 [%rd1], {%q0, %q1, %q2, %q0};"), Catch::Contains("64 bytes"));
  CHECK_THAT(refusal_of_code("atom.global.and.b128 %q0, [%rd1], %q1;"), Catch::Contains("not supported"));
  CHECK_THAT(refusal_of_code("atom.global.exch.v2.b128 {%q0, %q1}, [%rd1], {%q1, %q0};"),
             Catch::Contains("vectors of 128-bit values"));
  CHECK_THAT(
      refusal_of_code("cp.reduce.async.bulk.global.shared::cta.bulk_group.and.b128 [%rd1], [%r1], 16;"),
      Catch::Contains("not supported"));
  CHECK_THAT(refusal_of_code("sured.b.add.1d.b128.trap [%rd1, {%r1}], %q0;"),
             Catch::Contains("up to 64 bits"));
  CHECK_THAT(refusal_of_code("suld.b.1d.b128.trap %q0, [%rd1, {%r1}];"), Catch::Contains("up to 64 bits"));
}

TEST_CASE("conversions of addresses may go to the sink") {
  std::vector<std::uint64_t> cells(1);
  CHECK(execute("cvta.to.global.u64 _, %rd1; cvta.shared.u64 _, %rd1; isspacep.global _, %rd1;"
                "mov.u64 %rd10, 7;",
                cells)[0] == 7);
}

TEST_CASE("more local or shared memory than there can be is refused") {
  CHECK_THAT(refusal_of_code("{ .local .b8 big[524289]; }"),
             Catch::Contains("local memory; a thread has 524288"));
  CHECK_THAT(refusal_of_code("{ .local .b8 big[4294967296]; }"), Catch::Contains("local memory"));
  CHECK_THAT(refusal_of_code("{ .shared .b8 big[4294967296]; }"), Catch::Contains("bytes of shared memory"));
}

TEST_CASE("every space by name and by generic address") {
  std::vector<std::uint64_t> cells(1);
  const auto through_local = execute(
      "mov.u64 %rd4, local; cvta.local.u64 %rd4, %rd4; st.u32 [%rd4+8], %r1;"
      "ld.local.u32 %rd10, [local+8];",
      cells);
  const auto through_shared = execute(
      "mov.u64 %rd4, shared; cvta.shared.u64 %rd5, %rd4; add.u64 %rd5, %rd5, %rd3;"
      "st.u32 [%rd5], %r1; cvta.to.shared.u64 %rd5, %rd5; ld.shared.u32 %rd10, [%rd5];",
      cells);
  for (std::uint32_t i = 0; i < 32; ++i) {
    CHECK(through_local[i] == i);
    CHECK(through_shared[i] == i);
  }
  const auto spaces = execute(
      "mov.u64 %rd4, shared; cvta.shared.u64 %rd5, %rd4; isspacep.shared %p, %rd5;"
      "selp.u64 %rd6, 1, 0, %p; isspacep.global %p, %rd5; selp.u64 %rd7, 2, 0, %p;"
      "isspacep.global %p, %rd1; selp.u64 %rd8, 4, 0, %p; isspacep.local %p, %rd1;"
      "selp.u64 %rd9, 8, 0, %p; or.b64 %rd10, %rd6, %rd7; or.b64 %rd10, %rd10, %rd8;"
      "or.b64 %rd10, %rd10, %rd9;",
      cells);
  CHECK(spaces[0] == 5);
}

TEST_CASE("integer atomics return the old value and leave the result") {
  struct Row {
    const char* op;
    const char* type;
    std::uint64_t old, operand, result;
  };
  const Row rows[] = {{"add", "u32", 0xffffffff, 2, 1},
                      {"add", "u64", ~0ull, 2, 1},
                      {"add", "s32", 5, 0xfffffff6, 0xfffffffb},
                      {"min", "s32", 5, 0xfffffff6, 0xfffffff6},
                      {"min", "u32", 5, 0xfffffff6, 5},
                      {"max", "s32", 5, 0xfffffff6, 5},
                      {"max", "u32", 5, 0xfffffff6, 0xfffffff6},
                      {"min", "s64", 5, ~0ull, ~0ull},
                      {"max", "u64", 5, ~0ull, ~0ull},
                      {"inc", "u32", 5, 5, 0},
                      {"inc", "u32", 4, 5, 5},
                      {"dec", "u32", 0, 5, 5},
                      {"dec", "u32", 9, 5, 5},
                      {"dec", "u32", 3, 5, 2},
                      {"and", "b32", 0xff00ff00, 0x0ff00ff0, 0x0f000f00},
                      {"or", "b64", 0xff00, 0x0ff0, 0xfff0},
                      {"xor", "b32", 0xff00, 0x0ff0, 0xf0f0},
                      {"exch", "b32", 7, 9, 9},
                      {"exch", "b64", 7, ~0ull, ~0ull}};
  for (const Row& row : rows)
    for (const char* space : {".global", ""}) {
      INFO(row.op << '.' << row.type << space);
      std::vector<std::uint64_t> cells{row.old};
      const char* reg = std::string(row.type).ends_with("64") ? "%rd5" : "%r5";
      const auto out =
          execute(fmt::format("mov.b64 %rd4, {}; mov.b64 {{%r4, _}}, %rd4;"
                              "atom{}.{}.{} {}, [%rd1], {}; mov.b64 %rd10, {};",
                              static_cast<std::int64_t>(row.operand), space, row.op, row.type, reg,
                              reg[2] == 'd' ? "%rd4" : "%r4", reg[2] == 'd' ? "%rd5" : "{%r5, 0}"),
                  cells, 1);
      CHECK(out[0] == row.old);
      CHECK(cells[0] == row.result);
    }
}

TEST_CASE("compare and swap of 16 to 128 bits") {
  std::vector<std::uint64_t> cells{0x1111222233334444, 5};
  CHECK(execute("mov.b16 %h1, 0x4444; mov.b16 %h2, 7; atom.global.cas.b16 %h3, [%rd1], %h1, %h2; mov.b32 "
                "%r4, {%h3, %h0}; mul.wide.u32 %rd10, %r4, 1;",
                cells, 1)[0] == 0x4444);
  CHECK(cells[0] == 0x1111222233330007);
  execute("atom.global.cas.b64 %rd10, [%rd1], 1, 2;", cells, 1);
  CHECK(cells[0] == 0x1111222233330007);
  execute(
      "mov.b64 %rd4, 0x1111222233330007; mov.b64 %rd5, 5; mov.b128 %q0, {%rd4, %rd5}; mov.b128 %q1, {%rd5, "
      "%rd4};"
      "atom.global.cas.b128 %q2, [%rd1], %q0, %q1;",
      cells, 1);
  CHECK(cells[0] == 5);
  CHECK(cells[1] == 0x1111222233330007);
}

float half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                        : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

/// The half nearest to a value, ties to even, by search over all of them.
std::uint16_t nearest_half(double value) {
  std::uint16_t best = 0;
  double distance = INFINITY;
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const double d =
        std::fabs(std::fabs(value) - static_cast<double>(half_value(static_cast<std::uint16_t>(bits))));
    if (d < distance || (d == distance && bits % 2 == 0))
      best = static_cast<std::uint16_t>(bits), distance = d;
  }
  return static_cast<std::uint16_t>(best | (std::signbit(value) ? 0x8000 : 0));
}

TEST_CASE("floating-point atomics") {
  std::vector<std::uint64_t> cells(4);
  cells[0] = std::bit_cast<std::uint32_t>(1.5f);
  execute("mov.b32 %r2, 0f40000000; red.global.add.f32 [%rd1], %r2;", cells, 32);
  CHECK(cells[0] == std::bit_cast<std::uint32_t>(65.5f));
  cells[1] = std::bit_cast<std::uint64_t>(0.25);
  execute("mov.b64 %rd4, 0d3FF0000000000000; red.global.add.f64 [%rd1+8], %rd4;", cells, 3);
  CHECK(cells[1] == std::bit_cast<std::uint64_t>(3.25));
  cells[0] = 1;  // the smallest subnormal: flushed in global memory, kept in shared
  execute(
      "mov.b32 %r2, 0; red.global.add.f32 [%rd1], %r2;"
      "mov.b32 %r3, 1; st.shared.u32 [shared], %r3; red.shared.add.f32 [shared], %r3; ld.shared.u32 %r4, "
      "[shared];"
      "st.global.u32 [%rd1+16], %r4;",
      cells, 1);
  CHECK(cells[0] == 0);
  CHECK(cells[2] == 2);
  std::mt19937 random(5);
  for (int i = 0; i < 12; ++i) {
    const auto a = static_cast<std::uint16_t>(random() % 0x7800 | (random() & 0x8000));
    const auto b = static_cast<std::uint16_t>(random() % 0x7800 | (random() & 0x8000));
    cells[0] = a | std::uint32_t{b} << 16;
    execute(
        fmt::format("mov.b32 %r2, {}; red.global.add.noftz.f16x2 [%rd1], %r2;", b | std::uint32_t{a} << 16),
        cells, 1);
    const std::uint16_t sum =
        nearest_half(static_cast<double>(half_value(a)) + static_cast<double>(half_value(b)));
    INFO(std::hex << a << ' ' << b);
    CHECK(cells[0] == (sum | std::uint32_t{sum} << 16));
  }
}

TEST_CASE("vector reductions") {
  std::vector<std::uint64_t> cells(2);
  execute(
      "mov.b32 %r2, 0f3F800000; mov.b32 %r3, 0f40000000; red.global.add.v4.f32 [%rd1], {%r2, %r3, %r2, %r3};",
      cells, 2);
  CHECK(cells[0] == (0x40000000ull | 0x40800000ull << 32));
  CHECK(cells[1] == cells[0]);
}

}  // namespace
}  // namespace lockstep::exec::test
