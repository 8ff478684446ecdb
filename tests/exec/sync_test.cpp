// Progress and synchronisation: locks, barriers, cooperative grids.
#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

// Each thread takes the lock, adds 1 without an atomic, gives it back. The unlock lies behind the loop, so
// the winner has to pass the place where the losers would meet it.
constexpr const char* kLockedSum = R"(
.visible .entry locked(.param .u64 lock, .param .u64 sum) {
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [lock];
  ld.param.u64 %rd2, [sum];
$TRY:
  atom.global.cas.b32 %r1, [%rd1], 0, 1;
  setp.ne.s32 %p, %r1, 0;
  @%p bra $TRY;
  ld.volatile.global.u32 %r2, [%rd2];
  add.u32 %r2, %r2, 1;
  st.volatile.global.u32 [%rd2], %r2;
  membar.gl;
  atom.global.exch.b32 %r3, [%rd1], 0;
  ret;
})";

TEST_CASE("a spin lock between lanes, warps and CTAs") {
  Device device(kLockedSum);
  const Address lock = device.zeros<std::uint32_t>(1), sum = device.zeros<std::uint32_t>(1);
  device.run("locked", {3, 1, 1}, {96, 1, 1}, Arguments(lock, sum));
  CHECK(device.read<std::uint32_t>(sum, 1)[0] == 288);
  CHECK(device.read<std::uint32_t>(lock, 1)[0] == 0);
}

// CTA i waits for CTA i + 1, which has not begun when i does; the last one sets its flag at once.
constexpr const char* kChain = R"(
.visible .entry chain(.param .u64 flags) {
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [flags];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %nctaid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  mov.u32 %r3, %tid.x;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra $JOIN;
  add.u32 %r4, %r1, 1;
  setp.eq.u32 %p2, %r4, %r2;
  @%p2 bra $SET;
$WAIT:
  ld.acquire.gpu.u32 %r5, [%rd2+4];
  setp.eq.u32 %p2, %r5, 0;
  @%p2 bra $WAIT;
$SET:
  sub.u32 %r5, %r2, %r1;
  st.release.gpu.u32 [%rd2], %r5;
$JOIN:
  bar.sync 0;
  ret;
})";

TEST_CASE("a CTA may wait for one that comes later") {
  Device device(kChain);
  const Address flags = device.zeros<std::uint32_t>(40);
  device.run("chain", {40, 1, 1}, {64, 1, 1}, Arguments(flags));
  const auto values = device.read<std::uint32_t>(flags, 40);
  for (std::uint32_t i = 0; i < 40; ++i) CHECK(values[i] == 40 - i);
}

// Thread g waits for g+1, and every other one for g+2 as well: it looks at one place or at two, and lanes
// part.
constexpr const char* kParted = R"(
.visible .entry parted(.param .u64 flags) {
  .reg .pred %p<5>; .reg .b32 %r<10>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [flags];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd3, %rd1, %rd2;
  and.b32 %r5, %r4, 1;
  setp.ne.u32 %p1, %r5, 0;
  mov.u32 %r8, 0;
$L:
  mov.u32 %r9, 0;
  setp.ne.u32 %p2, %r8, 0;
  @%p2 bra $END;
  @%p1 bra $ODD;
  ld.volatile.global.u32 %r6, [%rd3+4];
  setp.eq.u32 %p3, %r6, 0;
  @%p3 bra $MISSING;
  bra $STORE;
$ODD:
  ld.volatile.global.u32 %r7, [%rd3+8];
  ld.volatile.global.u32 %r6, [%rd3+4];
  setp.ne.u32 %p3, %r6, 0;
  @%p3 bra $STORE;
$MISSING:
  mov.u32 %r9, 1;
  bra $END;
$STORE:
  add.u32 %r8, %r6, 1;
  st.volatile.global.u32 [%rd3], %r8;
$END:
  setp.ne.u32 %p4, %r9, 0;
  @%p4 bra $L;
  ret;
})";

TEST_CASE("threads that wait on paths that part and meet let others run soon") {
  constexpr std::uint32_t kCtas = 20, kThreads = 64, kAll = kCtas * kThreads;
  Device device(kParted);
  std::vector<std::uint32_t> start(kAll + 2);
  start[kAll] = start[kAll + 1] = 1;
  const Address flags = device.array(start);
  const RunCounts counts = device.run("parted", {kCtas, 1, 1}, {kThreads, 1, 1}, Arguments(flags));
  const auto values = device.read<std::uint32_t>(flags, kAll);
  for (std::uint32_t i = 0; i < kAll; ++i) REQUIRE(values[i] == kAll + 1 - i);
  CHECK(counts.warp_instructions < kAll * 100);
}

// A lane that its own member mask does not name: undefined in PTX, and what CUDA programs do to count the
// lanes before them.
constexpr const char* kLanesBefore = R"(
.visible .entry before(.param .u64 in, .param .u64 out) {
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  ld.global.u32 %r2, [%rd1];
  setp.ne.u32 %p1, %r2, 0;
  mov.u32 %r3, %lanemask_lt;
  vote.sync.ballot.b32 %r4, %p1, %r3;
  popc.b32 %r5, %r4;
  st.global.u32 [%rd2], %r5;
  ret;
})";

TEST_CASE("a ballot over the lanes before one's own") {
  Device device(kLanesBefore);
  std::vector<std::uint32_t> in(64);
  for (std::uint32_t i = 0; i < 64; ++i) in[i] = (0x9d3a'60f1'27c5'be48 >> i) & 1;
  const Address from = device.array(in), to = device.zeros<std::uint32_t>(64);
  device.run("before", {1, 1, 1}, {64, 1, 1}, Arguments(from, to));
  const auto counts = device.read<std::uint32_t>(to, 64);
  std::uint32_t expected = 0;
  for (std::uint32_t i = 0; i < 64; ++i) {
    if (i % 32 == 0) expected = 0;
    CHECK(counts[i] == expected);
    expected += in[i];
  }
}

// Lanes that the member mask does not name, as libcu++'s test of warp_match_all has them: it holds on
// hardware that they learn the same as the named ones. Equal values; values of which lane 0's differs.
TEST_CASE("lanes that match does not name learn whether the named ones agree") {
  Device device(R"(
.visible .entry agree(.param .u64 out, .param .u32 mask) {
  .reg .pred %p<5>; .reg .b32 %r<8>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [mask];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, 5;
  match.all.sync.b32 %r4|%p1, %r3, %r1;
  setp.eq.u32 %p2, %r2, 0;
  selp.u32 %r3, 1, 0, %p2;
  match.all.sync.b32 %r5|%p3, %r3, %r1;
  selp.u32 %r6, 1, 0, %p1;
  selp.u32 %r7, 2, 0, %p3;
  or.b32 %r6, %r6, %r7;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r6;
  ret;
})");
  for (std::uint32_t named = 1; named < 32; ++named) {
    const Address out = device.zeros<std::uint32_t>(32);
    device.run("agree", {1, 1, 1}, {32, 1, 1}, Arguments(out, (1u << named) - 1));
    CHECK(device.read<std::uint32_t>(out, 32) == std::vector<std::uint32_t>(32, named == 1 ? 3 : 1));
  }
}

// cooperative_groups::grid().sync() as nvcc writes it: see the PTX ISA on %envreg.
constexpr const char* kGridSync = R"(
.visible .entry rounds(.param .u64 cells, .param .u32 n) {
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [cells];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %nctaid.x;
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, %envreg1;
  mov.u32 %r6, %envreg2;
  mul.wide.u32 %rd2, %r5, 1;
  shl.b64 %rd2, %rd2, 32;
  mul.wide.u32 %rd3, %r6, 1;
  or.b64 %rd2, %rd2, %rd3;
  setp.ne.u64 %p1, %rd2, 0;
  @%p1 bra $BEGIN;
  trap;
$BEGIN:
  mul.wide.u32 %rd4, %r2, 4;
  add.u64 %rd4, %rd1, %rd4;
  add.u32 %r7, %r2, 1;
  rem.u32 %r7, %r7, %r3;
  mul.wide.u32 %rd5, %r7, 4;
  add.u64 %rd5, %rd1, %rd5;
$ROUND:
  ld.volatile.global.u32 %r8, [%rd5];
  barrier.sync 0;
  setp.ne.u32 %p2, %r4, 0;
  @%p2 bra $S1;
  sub.u32 %r9, %r3, 1;
  mov.u32 %r10, 0x80000000;
  sub.u32 %r10, %r10, %r9;
  setp.eq.u32 %p3, %r2, 0;
  selp.b32 %r10, %r10, 1, %p3;
  atom.add.release.gpu.u32 %r11, [%rd2+4], %r10;
$W1:
  ld.acquire.gpu.u32 %r12, [%rd2+4];
  xor.b32 %r13, %r12, %r11;
  and.b32 %r13, %r13, 0x80000000;
  setp.eq.u32 %p3, %r13, 0;
  @%p3 bra $W1;
$S1:
  barrier.sync 0;
  @%p2 bra $S2;
  add.u32 %r8, %r8, 1;
  st.volatile.global.u32 [%rd4], %r8;
  atom.add.release.gpu.u32 %r11, [%rd2+4], %r10;
$W2:
  ld.acquire.gpu.u32 %r12, [%rd2+4];
  xor.b32 %r13, %r12, %r11;
  and.b32 %r13, %r13, 0x80000000;
  setp.eq.u32 %p3, %r13, 0;
  @%p3 bra $W2;
$S2:
  barrier.sync 0;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p3, %r1, 0;
  @%p3 bra $ROUND;
  ret;
})";

TEST_CASE("cooperative grid synchronisation") {
  Device device(kGridSync);
  const std::uint32_t ctas = 13, rounds = 5;
  std::vector<std::uint32_t> cells(ctas);
  for (std::uint32_t i = 0; i < ctas; ++i) cells[i] = 100 * i;
  const Address at = device.array(cells);
  CHECK_THROWS_AS(device.run("rounds", {ctas, 1, 1}, {64, 1, 1}, Arguments(at, rounds)), DeviceFault);
  device.cooperative = true;
  device.run("rounds", {ctas, 1, 1}, {64, 1, 1}, Arguments(at, rounds));
  const auto result = device.read<std::uint32_t>(at, ctas);
  for (std::uint32_t i = 0; i < ctas; ++i) CHECK(result[i] == 100 * ((i + rounds) % ctas) + rounds);
}

// Two groups of warps hand a value back and forth by named barriers: one arrives, the other waits.
constexpr const char* kHandOver = R"(
.visible .entry handover(.param .u64 out) {
  .shared .align 4 .u32 cell[32];
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  shl.b32 %r3, %r2, 2;
  mov.u32 %r4, cell;
  add.u32 %r3, %r3, %r4;
  setp.ge.u32 %p, %r1, 32;
  @%p bra $READER;
  add.u32 %r5, %r2, 7;
  st.shared.u32 [%r3], %r5;
  bar.arrive 3, 64;
  bar.sync 4, 64;
  ret;
$READER:
  bar.sync 3, 64;
  ld.shared.u32 %r5, [%r3];
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r5;
  bar.arrive 4, 64;
  ret;
})";

TEST_CASE("named barriers with counts") {
  Device device(kHandOver);
  const Address out = device.zeros<std::uint32_t>(32);
  device.run("handover", {2, 1, 1}, {64, 1, 1}, Arguments(out));
  const auto values = device.read<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(values[i] == i + 7);
}

// Three warps arrive at a barrier of 128 threads; one of them then waits there too, and counts again. A
// second phase has the same threads: what is left of the first would complete it too early.
constexpr const char* kArriveThenWait = R"(
.visible .entry collect(.param .u64 out) {
  .shared .align 4 .u32 cell[96];
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, cell;
  add.u32 %r4, %r3, %r2;
  mov.u32 %r5, 0;
  mov.u32 %r9, 5;
  setp.lt.u32 %p1, %r1, 32;
$NEXT:
  mad.lo.u32 %r6, %r5, 1000, %r1;
  st.shared.u32 [%r4], %r6;
  bar.arrive %r9, 128;
  @!%p1 bra $SKIP;
  bar.sync %r9, 128;
  ld.shared.u32 %r7, [%r4+256];
  mad.lo.u32 %r8, %r5, 32, %r1;
  mul.wide.u32 %rd2, %r8, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r7;
$SKIP:
  bar.sync 0;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p2, %r5, 2;
  @%p2 bra $NEXT;
  ret;
})";

TEST_CASE("a warp that arrives at a barrier and then waits at it counts twice") {
  Device device(kArriveThenWait);
  const Address out = device.zeros<std::uint32_t>(64);
  device.run("collect", {1, 1, 1}, {96, 1, 1}, Arguments(out));
  const auto values = device.read<std::uint32_t>(out, 64);
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(values[i] == i / 32 * 1000 + 64 + i % 32);
}

constexpr const char* kBarrierReduce = R"(
.visible .entry votes(.param .u64 out) {
  .reg .pred %p<5>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 16;
  add.u64 %rd2, %rd1, %rd2;
  rem.u32 %r2, %r1, 3;
  setp.eq.u32 %p1, %r2, 0;
  bar.red.popc.u32 %r3, 0, %p1;
  setp.lt.u32 %p2, %r1, 1000;
  bar.red.and.pred %p3, 1, %p2;
  bar.red.or.pred %p4, 2, !%p2;
  selp.u32 %r4, 1, 0, %p3;
  selp.u32 %r5, 1, 0, %p4;
  bar.red.and.pred %p3, 0, %p1;
  selp.u32 %r6, 1, 0, %p3;
  st.global.v4.u32 [%rd2], {%r3, %r4, %r5, %r6};
  ret;
})";

TEST_CASE("barriers that reduce, with a partial last warp") {
  Device device(kBarrierReduce);
  const Address out = device.zeros<std::uint32_t>(4 * 100);
  device.run("votes", {1, 1, 1}, {100, 1, 1}, Arguments(out));
  const auto values = device.read<std::uint32_t>(out, 400);
  for (std::uint32_t i = 0; i < 100; ++i) {
    CHECK(values[4 * i] == 34);  // of 0..99, every third
    CHECK(values[4 * i + 1] == 1);
    CHECK(values[4 * i + 2] == 0);
    CHECK(values[4 * i + 3] == 0);
  }
}

TEST_CASE("what one thread does while all others exit") {
  // PTX ISA: bar.sync, bar.warp.sync, shfl.sync and vote.sync wait for the threads of the CTA or the mask;
  // exited ones do not count. nvcc makes the return of the others a branch to the end of the kernel. The
  // first is as Accel-Sim's mem_lat benchmark has it, which runs on hardware.
  const std::string body =
      GENERATE("bar.sync 0; mov.u32 %r2, 7;", "bar.warp.sync 0xffffffff; mov.u32 %r2, 7;",
               "shfl.sync.down.b32 %r2, 7, 0, 0x1f, 0xffffffff;",
               "vote.sync.ballot.b32 %r2, 1, 0xffffffff; add.u32 %r2, %r2, 6;");
  Device device(R"(
.visible .entry one(.param .u64 out) {
  .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p, %r1, 0;
  @%p bra $END;
)" + body + R"(
  st.global.u32 [%rd1], %r2;
$END:
  ret;
})");
  const Address out = device.zeros<std::uint32_t>(1);
  device.run("one", {1, 1, 1}, {96, 1, 1}, Arguments(out));
  CHECK(device.read<std::uint32_t>(out, 1)[0] == 7);
}

TEST_CASE("threads whose wait nothing can end are a deadlock") {
  Device device(R"(
.visible .entry stuck() {
  .reg .pred %p; .reg .b32 %r<2>;
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p, %r1, 40;
  @%p bar.sync 1, 96;
  ret;
})");
  try {
    device.run("stuck", {1, 1, 1}, {64, 1, 1}, Arguments());
    FAIL("no fault");
  } catch (const DeviceFault& fault) {
    CHECK(fault.kind() == FaultKind::kDeadlock);
    CHECK(fault.site().thread.x == 40);
    CHECK(fault.site().line == 9);
  }
}

}  // namespace
}  // namespace lockstep::exec::test
