// brx.idx: a stack machine, of which every lane interprets a program of its own, against the same machine on
// the host; and tables in which labels stand several times.
#include <array>
#include <catch2/catch.hpp>
#include <random>

#include "tests/exec/one_thread.hpp"

namespace lockstep::exec::test {
namespace {

enum Code : std::uint32_t { kPush, kAdd, kMultiply, kDuplicate, kSwap, kJumpIfEven, kHalt };
constexpr std::size_t kLength = 24;  // words of a program, each a code and above it an operand
using Program = std::array<std::uint32_t, kLength>;

// Registers: %r2 the place in the program, %r3 the upper and %r4 the lower value of the stack.
constexpr const char* kMachine = R"(
.visible .entry run(.param .u64 programs, .param .u64 out) {
  .reg .pred %p; .reg .b32 %r<12>; .reg .b64 %d<6>;
  ld.param.u64 %d1, [programs]; ld.param.u64 %d2, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x; mad.lo.u32 %r1, %r1, %r5, %r6;
  mad.wide.u32 %d1, %r1, 96, %d1;
  mov.u32 %r2, 0; mov.u32 %r3, 1; mov.u32 %r4, 1; mov.u32 %r9, 0;
  table: .branchtargets PUSH, ADD, MULTIPLY, DUPLICATE, SWAP, JUMP, HALT;
NEXT:
  add.u32 %r9, %r9, 1;
  setp.gt.u32 %p, %r9, 100;
  @%p bra HALT;
  mad.wide.u32 %d3, %r2, 4, %d1;
  ld.global.u32 %r7, [%d3];
  add.u32 %r2, %r2, 1;
  and.b32 %r8, %r7, 15;
  shr.u32 %r7, %r7, 4;
  brx.idx %r8, table;
PUSH:
  mov.u32 %r4, %r3; mov.u32 %r3, %r7;
  bra NEXT;
ADD:
  add.u32 %r3, %r3, %r4;
  bra NEXT;
MULTIPLY:
  mul.lo.u32 %r3, %r3, %r4;
DUPLICATE:
  mov.u32 %r4, %r3;
  bra NEXT;
SWAP:
  mov.u32 %r10, %r3; mov.u32 %r3, %r4; mov.u32 %r4, %r10;
  bra NEXT;
JUMP:
  and.b32 %r10, %r3, 1;
  setp.eq.u32 %p, %r10, 0;
  @%p mov.u32 %r2, %r7;
  bra NEXT;
HALT:
  mad.wide.u32 %d4, %r1, 16, %d2;
  st.global.v4.u32 [%d4], {%r2, %r3, %r4, %r9};
  ret;
})";

std::array<std::uint32_t, 4> interpret(const Program& program) {
  std::uint32_t at = 0, upper = 1, lower = 1, steps = 0;
  while (++steps <= 100) {
    const std::uint32_t word = program[at++], operand = word >> 4;
    const std::uint32_t code = word & 15;
    if (code == kHalt) break;
    if (code == kPush) lower = upper, upper = operand;
    if (code == kAdd) upper += lower;
    if (code == kMultiply) upper *= lower;
    if (code == kMultiply || code == kDuplicate) lower = upper;  // one falls through to the other
    if (code == kSwap) std::swap(upper, lower);
    if (code == kJumpIfEven && upper % 2 == 0) at = operand;
  }
  return {at, upper, lower, steps};
}

Program random_program(std::mt19937& random) {
  const auto below = [&](std::size_t end) { return static_cast<std::uint32_t>(random() % end); };
  Program program{};
  for (std::uint32_t& word : program) {
    const std::uint32_t code = below(8) == 0 ? kJumpIfEven + below(2) : below(kJumpIfEven);
    word = code | below(code == kJumpIfEven ? kLength : 0x10000) << 4;
  }
  program.back() = kHalt;
  return program;
}

}  // namespace

TEST_CASE("branch tables: every lane follows its own program") {
  Device device(kMachine);
  std::mt19937 random(17);
  constexpr std::size_t kThreads = 3 * 70;
  std::vector<Program> programs(kThreads);
  for (Program& program : programs) program = random_program(random);
  const Address in = device.array(programs), out = device.zeros<std::uint32_t>(4 * kThreads);
  device.run("run", {3, 1, 1}, {70, 1, 1}, Arguments(in, out));
  const auto found = device.read<std::array<std::uint32_t, 4>>(out, kThreads);
  std::size_t stopped = 0;
  for (std::size_t t = 0; t < kThreads; ++t) {
    INFO("thread " << t);
    const auto expected = interpret(programs[t]);
    CHECK(found[t] == expected);
    stopped += expected[3] > 100;
  }
  CHECK(stopped > 5);  // loops without end are among them
}

TEST_CASE("branch tables: a label may stand several times, and lanes meet behind the table") {
  Statements s{
      "table: .branchtargets A, B, A, C, B, C; rem.u32 %r1, %r0, 6; brx.idx %r1, table;"
      "A: mov.u32 %r2, 10; bra END; B: mov.u32 %r2, 20; bra END; C: mov.u32 %r2, 30;"
      "END: activemask.b32 %r3;"};
  const auto found = s.run({"%r2", "%r3"}, 32);
  const std::uint64_t expected[] = {10, 20, 10, 30, 20, 30};
  for (std::size_t lane = 0; lane < 32; ++lane) {
    CHECK(found[2 * lane] == expected[lane % 6]);
    CHECK(found[2 * lane + 1] == 0xffffffff);
  }
}

}  // namespace lockstep::exec::test
