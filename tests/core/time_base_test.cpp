// The SM's 32-bit ticks: their base moves every 2^30 cycles, in the middle of whatever runs, and nothing of
// it shows.
#include <catch2/catch.hpp>
#include <cstring>

#include "sm_bench.hpp"

namespace lockstep::core::test {
namespace {

using trace::MemSpace;

constexpr Cycle kRebase = Cycle{1} << 30;

/// Two CTAs whose warps use every tick that an SM keeps: results of pipes with long latencies and intervals,
/// register ports, loads that are waited for, decoded instructions, branches, sleeps, fences and barriers.
void add_everything(Program& p) {
  for (unsigned w = 0; w < 8; ++w) {
    if (w > 0) p.next_warp();
    const Address data = 0x7f0000000000 + 0x1000 * w;
    for (unsigned i = 0; i < 6; ++i) {
      p.memory(OpClass::kLoad, MemSpace::kGlobal, {3}, {2}, data + 0x10000 * i, 4);
      for (unsigned n = 0; n < 3; ++n) p.add(OpClass::kSfu, {4 + n}, {1, 2, 9});
      p.add(OpClass::kFp64, {8}, {8, 4});
      p.add(OpClass::kFp64, {10}, {4, 6, 8});
      p.memory(OpClass::kStore, MemSpace::kGlobal, {}, {3, 8}, data + 0x10000 * i, 4);
      if (i == 1) p.add(OpClass::kSleep, {}, {}).immediate = 150;
      if (i == 2) p.add(OpClass::kBarrier, {}, {}).barrier = trace::BarrierOp::kSync;
      if (i == 3) p.add(OpClass::kMemBar, {}, {}).fence = trace::FenceScope::kGpu;
      if (i == 4) p.pc += 4096;  // a taken branch
      p.memory(OpClass::kLoad, MemSpace::kShared, {12}, {2}, 0, 4);
      p.add(OpClass::kFp32, {13}, {12, 10});
    }
  }
}

Result run_rest_at(Cycle rest_at) {
  Program p(2);
  add_everything(p);
  config::GpuConfig c = small_gpu();
  c.pipe[static_cast<unsigned>(OpClass::kFp64)] = {config::unit_bit(config::Unit::kFp64), 40, 16};
  BenchOptions o;
  o.rest_at = rest_at;
  o.limit = rest_at + 1'000'000;
  const Result r = run(p, c, o);
  REQUIRE(r.finished);
  REQUIRE(r.quiescent);
  return r;
}

bool same(const Result& a, const Result& b) {
  return a.rest == b.rest && std::memcmp(&a.counters, &b.counters, sizeof a.counters) == 0;
}

}  // namespace

TEST_CASE("moving the time base in the middle of a CTA changes no cycle and no counter", "[long]") {
  const Result expected = run_rest_at(200'000);
  REQUIRE(expected.rest > 1000);
  CHECK(expected.counters.sm.stalls[static_cast<unsigned>(stats::Stall::kSleep)] > 0);
  CHECK(expected.counters.sm.stalls[static_cast<unsigned>(stats::Stall::kMathPipe)] > 0);
  for (Cycle before = 0; before < expected.rest + 64; before += 7) {
    INFO("second CTA " << before << " cycles before 2^30");
    CHECK(same(run_rest_at(kRebase - before), expected));
  }
}

TEST_CASE("an SM that slept for longer than ticks can say begins as if nothing had been") {
  const Result expected = run_rest_at(200'000);
  for (const Cycle slept :
       {2 * kRebase, 4 * kRebase - 100, 4 * kRebase, 4 * kRebase + 500, 13 * kRebase + 17})
    CHECK(same(run_rest_at(slept), expected));
}

}  // namespace lockstep::core::test
