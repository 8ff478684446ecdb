// CTAs that take one piece of work after the other from a counter.
#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

// Thread 0 of each CTA takes the next number, until all `pieces` are taken; the CTA then adds (number % 3 +
// 1) times 50 to a register, and notes itself as the one that did it.
constexpr const char* kTake = R"(
.visible .entry take(.param .u64 counter, .param .u64 who, .param .u32 pieces) {
  .shared .align 4 .u32 taken;
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [counter]; ld.param.u64 %rd2, [who]; ld.param.u32 %r1, [pieces];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;
  setp.eq.u32 %p1, %r2, 0;
$NEXT:
  @!%p1 bra $WAIT;
  atom.global.add.u32 %r4, [%rd1], 1;
  st.shared.u32 [taken], %r4;
$WAIT:
  bar.sync 0;
  ld.shared.u32 %r5, [taken];
  bar.sync 0;
  setp.ge.u32 %p2, %r5, %r1;
  @%p2 bra $END;
  rem.u32 %r6, %r5, 3;
  mad.lo.u32 %r6, %r6, 50, 50;
$WORK:
  add.u32 %r7, %r7, %r6;
  sub.u32 %r6, %r6, 1;
  setp.ne.u32 %p3, %r6, 0;
  @%p3 bra $WORK;
  mul.wide.u32 %rd3, %r5, 4;
  add.u64 %rd3, %rd2, %rd3;
  st.global.u32 [%rd3], %r3;
  bra $NEXT;
$END:
  ret;
})";

std::vector<std::uint32_t> takers(std::uint32_t ctas, std::uint32_t pieces, RunOptions options = {}) {
  Device device(kTake);
  device.options = options;
  const Address counter = device.zeros<std::uint32_t>(1);
  const Address who = device.array(std::vector<std::uint32_t>(pieces, ~0u));
  device.run("take", {ctas, 1, 1}, {64, 1, 1}, Arguments(counter, who, pieces));
  CHECK(device.read<std::uint32_t>(counter, 1)[0] == pieces + ctas);  // each is told once that there is none
  return device.read<std::uint32_t>(who, pieces);
}

}  // namespace

TEST_CASE("CTAs that are on the machine at once take work in turn, as they get done") {
  constexpr std::uint32_t kCtas = 10, kPieces = 300;
  std::vector<std::uint32_t> work(kCtas);
  const auto who = takers(kCtas, kPieces);
  for (std::uint32_t i = 0; i < kPieces; ++i) {
    REQUIRE(who[i] < kCtas);
    work[who[i]] += i % 3 + 1;
  }
  // 600 in all. Greedy distribution of pieces of at most 3: no one is more than one piece away from its
  // share.
  for (const std::uint32_t w : work) CHECK((w >= 57 && w <= 63));
  for (std::uint32_t i = 0; i < kCtas; ++i) CHECK(who[i] == i);  // the first round
}

TEST_CASE("of more CTAs than the machine holds each runs to its end, as before") {
  // 132 SMs of 2048 threads hold 4224 CTAs of 64.
  const auto who = takers(5000, 3);
  CHECK(who == std::vector<std::uint32_t>{0, 0, 0});
}

TEST_CASE("how many CTAs the machine holds is the GPU's: SMs, threads and CTAs of each") {
  const std::vector<std::uint32_t> in_turn{0, 1, 2}, alone{0, 0, 0};
  RunOptions options;
  options.sm_count = 10;
  options.sm_threads = 1536;  // 24 CTAs of 64
  CHECK(takers(240, 3, options) == in_turn);
  CHECK(takers(241, 3, options) == alone);
  options.sm_ctas = 16;
  CHECK(takers(160, 3, options) == in_turn);
  CHECK(takers(161, 3, options) == alone);
  options.sm_threads = 32;  // less than a CTA: one all the same
  CHECK(takers(10, 3, options) == in_turn);
  CHECK(takers(11, 3, options) == alone);
}

}  // namespace lockstep::exec::test
