// Warp-level instructions: which lanes they wait for, and where a divided warp meets.
#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

constexpr const char* kScan = R"(
.visible .entry scan(.param .u64 data) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  mov.u32 %r3, 1;
$LOOP:
  shfl.sync.up.b32 %r4|%p1, %r2, %r3, 0, 0xffffffff;
  @%p1 add.u32 %r2, %r2, %r4;
  shl.b32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, 32;
  @%p2 bra $LOOP;
  st.global.u32 [%rd3], %r2;
  ret;
})";

TEST_CASE("inclusive scan of each warp by shuffles") {
  Device device(kScan);
  const std::vector<std::uint32_t> ones(128, 1);
  const Address data = device.array(ones);
  device.run("scan", {1, 1, 1}, {128, 1, 1}, Arguments(data));
  const auto result = device.read<std::uint32_t>(data, 128);
  for (std::uint32_t i = 0; i < 128; ++i) REQUIRE(result[i] == i % 32 + 1);
}

// The halves of a warp part, meet at bar.warp.sync in different places, and exchange through shared memory;
// the member masks of the shuffle behind it are those of the halves.
constexpr const char* kWarpSync = R"(
.visible .entry halves(.param .u64 out) {
  .shared .align 4 .u32 cell[32];
  .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %laneid;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, cell;
  add.u32 %r2, %r2, %r3;
  setp.lt.u32 %p, %r1, 16;
  @%p bra $LOW;
  st.shared.u32 [%r2], %r1;
  bar.warp.sync 0xffffffff;
  ld.shared.u32 %r4, [%r2+-64];
  mov.u32 %r6, 0xffff0000;
  bra $JOIN;
$LOW:
  add.u32 %r5, %r1, 100;
  st.shared.u32 [%r2], %r5;
  bar.warp.sync 0xffffffff;
  ld.shared.u32 %r4, [%r2+64];
  mov.u32 %r6, 0xffff;
$JOIN:
  shfl.sync.bfly.b32 %r7, %r4, 1, 0x1f, %r6;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r7;
  ret;
})";

TEST_CASE("bar.warp.sync joins lanes from different places") {
  Device device(kWarpSync);
  const Address out = device.zeros<std::uint32_t>(32);
  device.run("halves", {1, 1, 1}, {32, 1, 1}, Arguments(out));
  const auto values = device.read<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(values[i] == (i < 16 ? (i ^ 1) + 16 : (i ^ 1) - 16 + 100));
}

// Lanes of one warp reach the same shuffle from different branches; threads that have exited are not waited
// for.
constexpr const char* kLateShuffle = R"(
.visible .entry late(.param .u64 out, .param .u32 leave) {
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r5, [leave];
  mov.u32 %r1, %laneid;
  setp.lt.u32 %p1, %r1, %r5;
  @%p1 exit;
  and.b32 %r2, %r1, 3;
  mov.u32 %r3, 0;
$LOOP:
  setp.ge.u32 %p1, %r3, %r2;
  @%p1 bra $OUT;
  add.u32 %r3, %r3, 1;
  bra $LOOP;
$OUT:
  vote.sync.ballot.b32 %r4, 1, 0xffffffff;
  redux.sync.add.u32 %r6, %r3, 0xffffffff;
  mul.wide.u32 %rd2, %r1, 8;
  add.u64 %rd2, %rd1, %rd2;
  st.global.v2.u32 [%rd2], {%r4, %r6};
  bar.sync 0;
  ret;
})";

TEST_CASE("warp-level instructions wait for the lanes that are left") {
  Device device(kLateShuffle);
  const Address out = device.zeros<std::uint32_t>(64);
  device.run("late", {1, 1, 1}, {32, 1, 1}, Arguments(out, 4u));
  const auto values = device.read<std::uint32_t>(out, 64);
  for (std::uint32_t i = 4; i < 32; ++i) {
    CHECK(values[2 * i] == 0xfffffff0);
    CHECK(values[2 * i + 1] == 7 * (0 + 1 + 2 + 3));
  }
}

// Lanes leave the loop one after another and meet behind it: there the whole warp executes one instruction
// together.
TEST_CASE("a divided warp meets at the immediate post-dominator") {
  Device device(R"(
.visible .entry run(.param .u64 out) {
  .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 1;
  mov.u32 %r3, 0;
$LOOP:
  add.u32 %r3, %r3, 1;
  setp.le.u32 %p, %r3, %r1;
  @%p bra $LOOP;
  setp.eq.u32 %p, %r2, 0;
  @%p bra $EVEN;
  add.u32 %r3, %r3, 100;
  bra $JOIN;
$EVEN:
  add.u32 %r3, %r3, 200;
$JOIN:
  activemask.b32 %r4;
  mul.wide.u32 %rd2, %r1, 8;
  add.u64 %rd2, %rd1, %rd2;
  st.global.v2.u32 [%rd2], {%r3, %r4};
  ret;
})");
  const Address out = device.zeros<std::uint32_t>(64);
  const RunCounts counts = device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments(out));
  const auto values = device.read<std::uint32_t>(out, 64);
  for (std::uint32_t i = 0; i < 32; ++i) {
    CHECK(values[2 * i] == i + 1 + (i % 2 ? 100 : 200));
    CHECK(values[2 * i + 1] == 0xffffffff);
  }
  // 4 before the loop, 32 rounds of 3, 2 up to the branch, 2 + 1 in its arms, 5 behind.
  CHECK(counts.warp_instructions == 4 + 32 * 3 + 2 + 3 + 5);
}

// Lanes of equal keys find each other; the form has one result, so nothing else may be written.
constexpr const char* kMatch = R"(
.visible .entry groups(.param .u64 out) {
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %laneid;
  shfl.sync.idx.b32 %r2|%p, %r1, 0, 31, 0xffffffff;
  rem.u32 %r3, %r1, 3;
  cvt.u64.u32 %rd2, %r3;
  match.any.sync.b64 %r4, %rd2, 0xffffffff;
  match.any.sync.b32 %r5, %r3, 0xffffffff;
  mul.wide.u32 %rd3, %r1, 8;
  add.s64 %rd4, %rd1, %rd3;
  st.global.v2.u32 [%rd4], {%r4, %r5};
  ret;
})";

TEST_CASE("match.any with its one result: lanes with the same key") {
  Device device(kMatch);
  const Address out = device.zeros<std::uint32_t>(64);
  device.run("groups", {1, 1, 1}, {32, 1, 1}, Arguments(out));
  const auto found = device.read<std::uint32_t>(out, 64);
  constexpr std::uint32_t kEveryThird = 0x49249249;  // bits 0, 3, ... 30
  for (std::uint32_t l = 0; l < 32; ++l) {
    REQUIRE(found[2 * l] == (l % 3 == 2 ? kEveryThird << 2 & 0xffffffff : kEveryThird << l % 3));
    REQUIRE(found[2 * l + 1] == found[2 * l]);
  }
}

// Every lane's registers of position, in a block whose rows are narrower than a warp.
constexpr const char* kPositions = R"(
.visible .entry positions(.param .u64 out) {
  .reg .b32 %r<12>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %tid.z;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %ntid.y;
  mad.lo.u32 %r6, %r3, %r5, %r2;
  mad.lo.u32 %r6, %r6, %r4, %r1;
  mul.wide.u32 %rd2, %r6, 4;
  add.s64 %rd3, %rd1, %rd2;
  shl.b32 %r2, %r2, 8;
  shl.b32 %r3, %r3, 16;
  or.b32 %r1, %r1, %r2;
  or.b32 %r1, %r1, %r3;
  st.global.u32 [%rd3], %r1;
  ret;
})";

TEST_CASE("thread numbers in a block of 5 x 3 x 7") {
  Device device(kPositions);
  const Address out = device.zeros<std::uint32_t>(105);
  device.run("positions", {1, 1, 1}, {5, 3, 7}, Arguments(out));
  const auto seen = device.read<std::uint32_t>(out, 105);
  for (std::uint32_t z = 0, i = 0; z < 7; ++z)
    for (std::uint32_t y = 0; y < 3; ++y)
      for (std::uint32_t x = 0; x < 5; ++x, ++i) REQUIRE(seen[i] == (x | y << 8 | z << 16));
}

// Eight lanes add up by shuffles with strides of 16 to 1: those that they reach beyond themselves count
// nothing.
constexpr const char* kFewLanes = R"(
.visible .entry few(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %laneid;
  add.u32 %r2, %r1, 1;
  setp.ge.u32 %p1, %r1, 8;
  @%p1 bra $END;
  mov.u32 %r3, 16;
$LOOP:
  shfl.sync.down.b32 %r4, %r2, %r3, 31, 0xff;
  add.u32 %r2, %r2, %r4;
  shr.u32 %r3, %r3, 1;
  setp.ne.u32 %p2, %r3, 0;
  @%p2 bra $LOOP;
  setp.eq.u32 %p2, %r1, 0;
  @%p2 st.global.u32 [%rd1], %r2;
$END:
  ret;
})";

TEST_CASE("a shuffle from a lane that takes no part gives 0") {
  Device device(kFewLanes);
  const Address out = device.zeros<std::uint32_t>(1);
  device.run("few", {1, 1, 1}, {32, 1, 1}, Arguments(out));
  CHECK(device.read<std::uint32_t>(out, 1)[0] == 36);  // 1 + 2 + ... + 8
}

}  // namespace
}  // namespace lockstep::exec::test
