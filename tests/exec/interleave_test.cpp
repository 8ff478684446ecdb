// Warps that advance together: what programs do that lack a barrier (RunOptions::interleave).
#include <catch2/catch.hpp>

#include "exec/warp.hpp"
#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

// The sum of 0 to 127 by four warps in each CTA: halves are added without a barrier, as old reductions do
// within a warp and wrong ones across warps..
constexpr const char* kSum = R"(
.visible .entry sum(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<10>; .reg .b64 %rd<4>;
  .shared .align 4 .b8 words[512];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, words;
  shl.b32 %r3, %r1, 2;
  add.u32 %r2, %r2, %r3;
  st.shared.u32 [%r2], %r1;
  mov.u32 %r4, 64;
$HALVE:
  setp.lt.u32 %p1, %r1, %r4;
  shl.b32 %r5, %r4, 2;
  add.u32 %r5, %r2, %r5;
  @%p1 ld.shared.u32 %r6, [%r2];
  @%p1 ld.shared.u32 %r7, [%r5];
  @%p1 add.u32 %r6, %r6, %r7;
  @%p1 st.shared.u32 [%r2], %r6;
  shr.u32 %r4, %r4, 1;
  setp.ne.u32 %p2, %r4, 0;
  @%p2 bra $HALVE;
  setp.eq.u32 %p1, %r1, 0;
  mov.u32 %r8, %ctaid.x;
  mul.wide.u32 %rd2, %r8, 4;
  add.u64 %rd2, %rd1, %rd2;
  @%p1 st.global.u32 [%rd2], %r6;
  ret;
})";

std::vector<std::uint32_t> sums(std::uint32_t interleave, unsigned threads = 1) {
  Device device(kSum);
  device.options.interleave = interleave;
  device.options.threads = threads;
  const Address out = device.zeros<std::uint32_t>(50);
  device.run("sum", {50, 1, 1}, {128, 1, 1}, Arguments(out));
  return device.read<std::uint32_t>(out, 50);
}

TEST_CASE("interleaved warps add halves without a barrier; one after the other they do not") {
  const std::vector<std::uint32_t> right(50, 127 * 128 / 2);
  CHECK(sums(0) == right);
  CHECK(sums(1) == right);
  CHECK(sums(2) == right);
  CHECK(sums(kTurn) != right);  // from barrier to barrier
}

TEST_CASE("interleaved warps: the same for any number of threads") {
  for (const std::uint32_t interleave : {0U, 1U, 5U, 64U, std::uint32_t{kTurn}}) {
    const auto one = sums(interleave);
    CHECK(sums(interleave) == one);
    CHECK(sums(interleave, 4) == one);
  }
}

// Each thread takes the lock, adds 1 without an atomic, gives it back; then all wait for a CTA that comes
// later.
constexpr const char* kLockAndWait = R"(
.visible .entry locked(.param .u64 lock, .param .u64 sum, .param .u64 flags) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [lock];
  ld.param.u64 %rd2, [sum];
  ld.param.u64 %rd3, [flags];
$TRY:
  atom.global.cas.b32 %r1, [%rd1], 0, 1;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra $TRY;
  ld.volatile.global.u32 %r2, [%rd2];
  add.u32 %r2, %r2, 1;
  st.volatile.global.u32 [%rd2], %r2;
  membar.gl;
  atom.global.exch.b32 %r3, [%rd1], 0;
  bar.sync 0;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %nctaid.x;
  mul.wide.u32 %rd4, %r4, 4;
  add.u64 %rd4, %rd3, %rd4;
  add.u32 %r6, %r4, 1;
  setp.eq.u32 %p2, %r6, %r5;
  @%p2 bra $SET;
$WAIT:
  ld.acquire.gpu.u32 %r7, [%rd4+4];
  setp.eq.u32 %p1, %r7, 0;
  @%p1 bra $WAIT;
$SET:
  sub.u32 %r7, %r5, %r4;
  st.release.gpu.u32 [%rd4], %r7;
  ret;
})";

TEST_CASE("interleaved warps: locks between lanes and warps, and CTAs that wait for later ones") {
  for (const std::uint32_t interleave : {1U, 3U, 1000U}) {
    CAPTURE(interleave);
    Device device(kLockAndWait);
    device.options.interleave = interleave;
    const Address lock = device.zeros<std::uint32_t>(1), sum = device.zeros<std::uint32_t>(1),
                  flags = device.zeros<std::uint32_t>(6);
    const RunCounts counts = device.run("locked", {6, 1, 1}, {96, 1, 1}, Arguments(lock, sum, flags));
    CHECK(device.read<std::uint32_t>(sum, 1)[0] == 6 * 96);
    CHECK(device.read<std::uint32_t>(flags, 6) == std::vector<std::uint32_t>{6, 5, 4, 3, 2, 1});
    CHECK(counts.warp_instructions > 6 * 3 * 20);
  }
}

// A loop long enough for turns of warps to end in it (kTurn operations); the other warp waits for its
// flag.
constexpr const char* kLong = R"(
.visible .entry slow(.param .u64 flag, .param .u32 rounds) {
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [flag];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p1, %r2, 32;
  @%p1 bra $COUNT;
$WAIT:
  ld.volatile.global.u32 %r3, [%rd1];
  setp.eq.u32 %p2, %r3, 0;
  @%p2 bra $WAIT;
  st.global.u32 [%rd1+4], %r3;
  ret;
$COUNT:
  mov.u32 %r4, 0;
$AGAIN:
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r4, %r1;
  @%p2 bra $AGAIN;
  st.volatile.global.u32 [%rd1], %r4;
  ret;
})";

TEST_CASE("interleaved warps: one that waits for another's long loop", "[long]") {
  for (const std::uint32_t interleave : {0U, 16U}) {
    Device device(kLong);
    device.options.interleave = interleave;
    const Address flag = device.zeros<std::uint32_t>(2);
    Arguments arguments(flag, std::uint32_t{1000000});
    device.run("slow", {1, 1, 1}, {64, 1, 1}, arguments);
    CHECK(device.read<std::uint32_t>(flag, 2) == std::vector<std::uint32_t>{1000000, 1000000});
  }
}

}  // namespace
}  // namespace lockstep::exec::test
