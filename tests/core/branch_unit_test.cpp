// The branch unit that the sub-cores of an SM share: its rate, its order, and the wait for it.
#include <catch2/catch.hpp>

#include "sm_bench.hpp"

namespace lockstep::core::test {
namespace {

config::GpuConfig with_branch_unit(bool shared, std::uint32_t interval = 2) {
  config::GpuConfig c = small_gpu();
  c.branch_shared = shared;
  c.frontend.prefetch_entries = 16;
  for (const OpClass op : {OpClass::kBranch, OpClass::kConvergence})
    c.pipe[static_cast<unsigned>(op)] = {config::unit_bit(config::Unit::kBranch), 4, interval};
  return c;
}

/// Cycles between two of a warp's instructions when `warps` warps execute nothing else, from code that is
/// cached.
double rate(const config::GpuConfig& c, OpClass op, unsigned warps) {
  constexpr unsigned kBody = 128;
  const auto cycles = [&](unsigned passes) {
    Program p;
    for (unsigned w = 0; w < warps; ++w) {
      if (w > 0) p.next_warp();
      for (unsigned i = 0; i < kBody * passes; ++i) {
        if (i % kBody == 0) p.pc = 0;
        p.add(op, {}, {}).may_branch = op == OpClass::kBranch;
      }
    }
    const Result r = run(p, c);
    REQUIRE(r.finished);
    return r.cycles;
  };
  return static_cast<double>(cycles(8) - cycles(4)) / (4 * kBody);
}

TEST_CASE("a branch unit of the SM divides its rate among all warps, one of each sub-core among its own") {
  for (const OpClass op : {OpClass::kBranch, OpClass::kConvergence})
    for (const unsigned interval : {2u, 5u})
      for (const unsigned warps : {4u, 8u, 16u})  // the first four are on different sub-cores
        CHECK(rate(with_branch_unit(true, interval), op, warps) == Approx(interval * warps).epsilon(0.05));
  for (const unsigned warps : {4u, 8u, 16u})
    CHECK(rate(with_branch_unit(false, 5), OpClass::kConvergence, warps) ==
          Approx(5.0 * warps / 4).epsilon(0.05));
}

TEST_CASE(
    "the branch unit serves the sub-cores in the order of issue: none waits for another's last branch") {
  constexpr unsigned kBranches = 64, kChain = 100;
  const auto cycles = [](bool chain) {
    Program p;
    for (unsigned w = 0; w < 16; ++w) {
      if (w > 0) p.next_warp();
      const unsigned count = w == 3 ? kBranches / 2 : kBranches;
      for (unsigned i = 0; i < count; ++i) p.add(OpClass::kConvergence, {}, {});
      for (unsigned i = 0; chain && w == 3 && i < kChain; ++i) p.add(OpClass::kFp32, {1}, {1});
    }
    return run(p, with_branch_unit(true)).cycles;
  };
  // Half of the time is left when warp 3 has had its half: its chain, of 4 cycles per link, ends before the
  // others.
  REQUIRE(kChain * 4 < 16 * kBranches * 2 / 2);
  CHECK(cycles(true) == cycles(false));
}

TEST_CASE("what follows a taken branch is fetched once the shared unit has had the branch") {
  // 15 warps' branches are before that of warp 15, whose target is fetched branch_latency after its turn.
  const auto cycles = [](unsigned interval) {
    Program p;
    for (unsigned w = 0; w < 16; ++w) {
      if (w > 0) p.next_warp();
      p.add(OpClass::kBranch, {}, {}).may_branch = true;
      p.pc += 64;
      p.add(OpClass::kAlu, {1}, {2});
    }
    return run(p, with_branch_unit(true, interval)).cycles;
  };
  CHECK(cycles(9) - cycles(8) == 15);
  CHECK(cycles(20) - cycles(8) == 12 * 15);
}

}  // namespace
}  // namespace lockstep::core::test
