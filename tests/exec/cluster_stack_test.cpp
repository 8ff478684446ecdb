// Asynchronous stores and reductions that tell an mbarrier; local memory of alloca.
#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

// Rank 1 of a cluster of two stores and adds into rank 0's shared memory; rank 0 waits for the bytes.
TEST_CASE("st.async, red.async and bulk reductions tell the mbarrier of another CTA") {
  Device device(R"(
.visible .entry run(.param .u64 out) {
  .shared .align 16 .b8 cells[64];
  .shared .align 16 .b8 mine[16];
  .shared .align 8 .b64 full;
  .reg .pred %p, %q; .reg .b32 %r<12>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, cells; mov.u32 %r3, full; mov.u32 %r10, mine;
  st.shared.v4.u32 [cells], {7, 7, 7, 7};
  st.shared.v4.u32 [cells+16], {100, 200, 300, 400};
  st.shared.v4.u32 [mine], {1, 2, 3, 4};
  mbarrier.init.shared::cta.b64 [%r3], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 36;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  setp.eq.u32 %p, %r1, 0;
  @%p bra $WAIT;
  mapa.shared::cluster.u32 %r4, %r2, 0;
  mapa.shared::cluster.u32 %r5, %r3, 0;
  st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%r4], {11, 12, 13, 14}, [%r5];
  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r4+4], 1000, [%r5];
  cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.u32 [%r4+16], [%r10], 16, [%r5];
  bra $END;
$WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %q, [%r3], 0;
  @!%q bra $WAIT;
  ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [cells];
  st.global.v4.u32 [%rd1], {%r6, %r7, %r8, %r9};
  ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [cells+16];
  st.global.v4.u32 [%rd1+16], {%r6, %r7, %r8, %r9};
$END:
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;
})");
  device.cluster = {2, 1, 1};
  const Address out = device.zeros<std::uint32_t>(8);
  device.run("run", {2, 1, 1}, {1, 1, 1}, Arguments(out));
  CHECK(device.read<std::uint32_t>(out, 8) ==
        std::vector<std::uint32_t>{11, 1012, 13, 14, 100, 200, 300, 400});
}

// Lanes take stack of different sizes in a function that calls itself; each fills what it has and sums it
// later.
TEST_CASE("alloca gives each lane its own memory until the function returns") {
  Device device(R"(
.func (.param .b32 res) work(.param .b32 n) {
  .reg .pred p; .reg .b32 r<8>; .reg .b64 d<6>;
  ld.param.b32 r1, [n];
  stacksave.u64 d3;
  mul.wide.u32 d1, r1, 4;
  alloca.u64 d2, d1, 16;
  mov.u32 r2, 0;
$FILL:
  setp.ge.u32 p, r2, r1;
  @p bra $CALL;
  mul.wide.u32 d1, r2, 4;
  add.u64 d1, d1, d2;
  st.local.u32 [d1], r1;
  add.u32 r2, r2, 1;
  bra $FILL;
$CALL:
  mov.u32 r3, 0;
  setp.lt.u32 p, r1, 2;
  @p bra $SUM;
  sub.u32 r4, r1, 1;
  { .param .b32 a; .param .b32 b;
    st.param.b32 [a], r4;
    call (b), work, (a);
    ld.param.b32 r3, [b]; }
$SUM:
  mov.u32 r2, 0;
$NEXT:
  setp.ge.u32 p, r2, r1;
  @p bra $END;
  mul.wide.u32 d1, r2, 4;
  add.u64 d1, d1, d2;
  cvta.local.u64 d1, d1;
  ld.u32 r4, [d1];
  add.u32 r3, r3, r4;
  add.u32 r2, r2, 1;
  bra $NEXT;
$END:
  stackrestore.u64 d3;
  st.param.b32 [res], r3;
  ret;
}
.visible .entry run(.param .u64 out, .param .u32 rounds) {
  .reg .pred p; .reg .b32 r<8>; .reg .b64 d<4>;
  ld.param.u64 d1, [out]; ld.param.u32 r5, [rounds];
  mov.u32 r1, %tid.x;
$AGAIN:
  { .param .b32 a; .param .b32 b;
    st.param.b32 [a], r1;
    call (b), work, (a);
    ld.param.b32 r2, [b]; }
  sub.u32 r5, r5, 1;
  setp.ne.u32 p, r5, 0;
  @p bra $AGAIN;
  mul.wide.u32 d2, r1, 4;
  add.u64 d1, d1, d2;
  st.global.u32 [d1], r2;
  ret;
})");
  const Address out = device.zeros<std::uint32_t>(40);
  device.run("run", {1, 1, 1}, {40, 1, 1},
             Arguments(out, 60u));  // 60 rounds would not fit without giving back
  const auto got = device.read<std::uint32_t>(out, 40);
  for (std::uint32_t t = 0; t < 40; ++t) {
    std::uint32_t want = 0;
    for (std::uint32_t n = t; n > 0; --n) want += n * n;
    CHECK(got[t] == want);
  }
  device.options.stack_bytes = 2048;
  CHECK_THROWS_AS(device.run("run", {1, 1, 1}, {40, 1, 1}, Arguments(out, 1u)), DeviceFault);
}

}  // namespace
}  // namespace lockstep::exec::test
