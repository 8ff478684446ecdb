// Asynchronous copies, mbarriers, matrix moves, clusters.
#include <catch2/catch.hpp>
#include <numeric>

#include "exec/mbarrier.hpp"
#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

TEST_CASE("an mbarrier completes a phase when arrivals and bytes are all there") {
  Mbarrier b;
  b.init(3);
  b.expect(100);
  b.arrive(2, false);
  b = Mbarrier::unpack(b.pack());
  CHECK(b.pending == 1);
  CHECK(b.tx == 100);
  b.complete(160);  // bytes may come before they are announced
  CHECK(Mbarrier::unpack(b.pack()).tx == -60);
  b.arrive(1, true);
  CHECK_FALSE(b.phase);
  b.expect(60);
  b.complete(0);
  CHECK(b.phase);
  CHECK(b.pending == 2);
  CHECK(b.expected == 2);
  CHECK(Mbarrier::unpack(b.pack()).phase);
}

TEST_CASE("cp.async copies, and fills with zeros what it does not read") {
  Device device(R"(
.visible .entry run(.param .u64 in, .param .u64 out) {
  .shared .align 16 .b8 tile[1024];
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 16;
  add.u64 %rd4, %rd1, %rd3;
  mov.u32 %r2, tile;
  shl.b32 %r3, %r1, 4;
  add.u32 %r2, %r2, %r3;
  and.b32 %r4, %r1, 15;
  cp.async.cg.shared.global [%r2], [%rd4], 16, %r4;
  cp.async.ca.shared.global [%r2+512], [%rd4+8], 4;
  cp.async.ca.shared.global [%r2+520], [%rd4], 8;
  cp.async.commit_group;
  cp.async.wait_group 0;
  ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2];
  mul.wide.u32 %rd3, %r1, 32;
  add.u64 %rd5, %rd2, %rd3;
  st.global.v4.u32 [%rd5], {%r4, %r5, %r6, %r7};
  ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2+512];
  st.global.v4.u32 [%rd5+16], {%r4, %r5, %r6, %r7};
  ret;
})");
  std::vector<std::uint8_t> in(512);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint8_t>(i * 7 + 1);
  const Address from = device.array(in), out = device.zeros<std::uint8_t>(1024);
  device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments(from, out));
  const auto bytes = device.read<std::uint8_t>(out, 1024);
  for (std::size_t t = 0; t < 32; ++t)
    for (std::size_t b = 0; b < 16; ++b) {
      CHECK(bytes[32 * t + b] == (b < t % 16 ? in[16 * t + b] : 0));
      const std::uint8_t second = b < 4 ? in[16 * t + 8 + b] : b < 8 ? 0 : in[16 * t + b - 8];
      CHECK(bytes[32 * t + 16 + b] == second);
    }
}

// A producer warp fills a buffer by bulk copy; the consumers wait by parity, twice.
// A thread ends the barrier while others have not yet looked whether its phase is complete: PTX leaves open
// what they see; programs (the destructors of libcu++'s own tests) count on the phase, which was complete.
TEST_CASE("who looks at an mbarrier after its end still sees that the phase was complete") {
  Device device(R"(
.visible .entry late(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<6>;
  .shared .align 8 .b64 bar;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mbarrier.init.shared.b64 [bar], 64;
  bar.sync 0;
  mbarrier.arrive.shared.b64 %rd2, [bar];
  bar.sync 0;
  @%p1 mbarrier.inval.shared.b64 [bar];
  bar.sync 0;
  mbarrier.test_wait.shared.b64 %p2, [bar], %rd2;
  selp.u32 %r2, 1, 0, %p2;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd1, %rd3;
  st.global.u32 [%rd4], %r2;
  ret;
})");
  const Address out = device.zeros<std::uint32_t>(64);
  device.run("late", {1, 1, 1}, {64, 1, 1}, Arguments(out));
  CHECK(device.read<std::uint32_t>(out, 64) == std::vector<std::uint32_t>(64, 1));
}

// Warp 0 tries two mbarriers in turn; that of the second one makes warp 1 complete the first one.
TEST_CASE("try_wait returns while the phase is incomplete, even if no other warp makes progress") {
  Device device(R"(
.visible .entry run(.param .u64 out) {
  .shared .align 8 .b64 first; .shared .align 8 .b64 second; .shared .align 4 .b32 seen;
  .reg .pred %p<4>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 0;
  setp.eq.u32 %p0, %r1, 0;
  @!%p0 bra $READY;
  mbarrier.init.shared.b64 [first], 1;
  mbarrier.init.shared.b64 [second], 1;
$READY:
  bar.sync 0;
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra $OTHER;
$POLL:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [first], 0;
  @%p2 bra $DONE;
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [second], 0;
  @%p3 add.u32 %r2, %r2, 1;
  @%p3 st.volatile.shared.u32 [seen], 1;
  bra $POLL;
$OTHER:
  setp.eq.u32 %p2, %r1, 32;
  @!%p2 bra $END;
  mbarrier.arrive.shared::cta.b64 _, [second];
$WAIT:
  ld.volatile.shared.u32 %r3, [seen];
  setp.eq.u32 %p3, %r3, 0;
  @%p3 bra $WAIT;
  mbarrier.arrive.shared::cta.b64 _, [first];
  bra $END;
$DONE:
  setp.gt.u32 %p3, %r2, 0;
  selp.u32 %r4, 1, 2, %p3;
  st.global.u32 [%rd1], %r4;
$END:
  ret;
})");
  const Address out = device.zeros<std::uint32_t>(1);
  device.run("run", {1, 1, 1}, {64, 1, 1}, Arguments(out));
  CHECK(device.read<std::uint32_t>(out, 1) == std::vector<std::uint32_t>{1});
}

TEST_CASE("bulk copies complete an mbarrier that others wait for") {
  Device device(R"(
.visible .entry run(.param .u64 in, .param .u64 out) {
  .shared .align 16 .b8 tile[256];
  .shared .align 8 .b64 full;
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, full;
  mov.u32 %r3, tile;
  mov.u32 %r6, 0;
  setp.ne.u32 %p1, %r1, 64;
  @%p1 bra $START;
  mbarrier.init.shared.b64 [%r2], 1;
$START:
  bar.sync 0;
$ROUND:
  @%p1 bra $WAIT;
  mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd3, [%r2], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 256, [%r2];
  add.u64 %rd1, %rd1, 256;
$WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], %r6;
  @!%p2 bra $WAIT;
  setp.ge.u32 %p2, %r1, 64;
  @%p2 bra $NEXT;
  shl.b32 %r4, %r1, 2;
  add.u32 %r4, %r4, %r3;
  ld.shared.u32 %r5, [%r4];
  mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd4, %rd4, %rd2;
  st.global.u32 [%rd4], %r5;
$NEXT:
  add.u64 %rd2, %rd2, 256;
  bar.sync 0;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p2, %r6, 2;
  @%p2 bra $ROUND;
  ret;
})");
  std::vector<std::uint32_t> in(128);
  std::iota(in.begin(), in.end(), 1000);
  const Address from = device.array(in), out = device.zeros<std::uint32_t>(128);
  device.run("run", {1, 1, 1}, {96, 1, 1}, Arguments(from, out));
  CHECK(device.read<std::uint32_t>(out, 128) == in);
}

// PTX ISA: with matrices in row order, lane l holds elements (l / 4, 2 (l % 4)) and the next one.
TEST_CASE("ldmatrix and stmatrix distribute 8x8 matrices") {
  for (const bool transposed : {false, true}) {
    const std::string trans = transposed ? ".trans" : "";
    Device device(R"(
.visible .entry run(.param .u64 in, .param .u64 out) {
  .shared .align 16 .b8 tile[512];
  .shared .align 16 .b8 copy[512];
  .reg .b32 %r<12>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 16;
  add.u64 %rd4, %rd1, %rd3;
  mov.u32 %r2, tile;
  shl.b32 %r3, %r1, 4;
  add.u32 %r2, %r2, %r3;
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd4];
  st.shared.v4.u32 [%r2], {%r4, %r5, %r6, %r7};
  bar.warp.sync 0xffffffff;
  ldmatrix.sync.aligned.m8n8.x4)" +
                  trans + R"(.shared.b16 {%r4, %r5, %r6, %r7}, [%r2];
  mul.wide.u32 %rd3, %r1, 32;
  add.u64 %rd5, %rd2, %rd3;
  st.global.v4.u32 [%rd5], {%r4, %r5, %r6, %r7};
  mov.u32 %r8, copy;
  add.u32 %r8, %r8, %r3;
  stmatrix.sync.aligned.m8n8.x4)" +
                  trans + R"(.shared.b16 [%r8], {%r4, %r5, %r6, %r7};
  bar.warp.sync 0xffffffff;
  ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r8];
  st.global.v4.u32 [%rd5+16], {%r4, %r5, %r6, %r7};
  ret;
})");
    std::vector<std::uint16_t> in(256);
    std::iota(in.begin(), in.end(), std::uint16_t{0});
    const Address from = device.array(in), out = device.zeros<std::uint16_t>(512);
    device.run("run", {1, 1, 1}, {32, 1, 1}, Arguments(from, out));
    const auto got = device.read<std::uint16_t>(out, 512);
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned m = 0; m < 4; ++m)
        for (unsigned h = 0; h < 2; ++h) {
          const unsigned row = l / 4, column = 2 * (l % 4) + h;
          const unsigned expected = 64 * m + (transposed ? 8 * column + row : 8 * row + column);
          CHECK(got[16 * l + 2 * m + h] == expected);
          CHECK(got[16 * l + 8 + 2 * m + h] == in[8 * l + 2 * m + h]);  // stored where it was
        }
  }
}

// Each CTA reads a word of its right neighbour's shared memory, and adds to its left one's by an atomic.
TEST_CASE("clusters: ranks, barriers and distributed shared memory") {
  Device device(R"(
.visible .entry run(.param .u64 out) {
  .shared .align 8 .b32 cell[2];
  .reg .pred %p; .reg .b32 %r<12>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %cluster_ctarank;
  mov.u32 %r2, %cluster_nctarank;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r10, %tid.x;
  add.u32 %r4, %r3, 100;
  st.shared.u32 [cell], %r4;
  st.shared.u32 [cell+4], 0;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  add.u32 %r5, %r1, 1;
  rem.u32 %r5, %r5, %r2;
  mov.u32 %r6, cell;
  mapa.shared::cluster.u32 %r7, %r6, %r5;
  ld.shared::cluster.u32 %r8, [%r7];
  mov.u64 %rd2, cell;
  cvta.shared.u64 %rd3, %rd2;
  mapa.u64 %rd4, %rd3, %r5;
  atom.add.u32 %r9, [%rd4+4], 2;
  getctarank.u64 %r11, %rd4;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  setp.ne.u32 %p, %r10, 5;
  @%p bra $END;
  ld.shared.u32 %r9, [cell+4];
  mul.wide.u32 %rd5, %r3, 16;
  add.u64 %rd5, %rd1, %rd5;
  st.global.v4.u32 [%rd5], {%r8, %r9, %r11, %r2};
$END:
  ret;
})");
  device.cluster = {4, 1, 1};
  const Address out = device.zeros<std::uint32_t>(4 * 12);
  device.run("run", {12, 1, 1}, {40, 1, 1}, Arguments(out));
  const auto got = device.read<std::uint32_t>(out, 4 * 12);
  for (std::uint32_t c = 0; c < 12; ++c) {
    const std::uint32_t next = c / 4 * 4 + (c + 1) % 4;
    CHECK(got[4 * c] == 100 + next);
    CHECK(got[4 * c + 1] == 80);
    CHECK(got[4 * c + 2] == next % 4);
    CHECK(got[4 * c + 3] == 4);
  }
  device.cluster = {5, 1, 1};
  CHECK_THROWS_AS(device.run("run", {12, 1, 1}, {40, 1, 1}, Arguments(out)), UserError);
}

}  // namespace
}  // namespace lockstep::exec::test
