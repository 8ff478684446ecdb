// Barriers of a CTA and named ones, one after another.
#include <catch2/catch.hpp>

#include "micro.hpp"

namespace lockstep::test {
namespace {

/// Cycles from one barrier to the next.
double cost(const Micro& micro, const char* pattern, unsigned warps) {
  return micro.each("barriers", "instructions", 32, 64,
                    {{"pattern", pattern}, {"threads", std::to_string(warps * kWarpSize)}});
}

TEST_CASE("a barrier costs its latency and the arrivals of the warps") {
  // All warps are released at once and arrive again; the SM accepts one every barrier_interval.
  const Micro micro("v100");
  const auto& sync = micro.config().sync;
  for (const char* pattern : {"cta", "named"})
    for (const unsigned warps : {1u, 2u, 3u, 4u, 5u, 8u, 16u, 31u, 32u}) {
      INFO(pattern << " of " << warps << " warps");
      CHECK(cost(micro, pattern, warps) == sync.barrier_latency + (warps - 1) * sync.barrier_interval);
    }
}

TEST_CASE("barriers accept arrivals at the published rate") {
  // CUDA C++ Programming Guide, synchronization instructions: __syncthreads() of 16 threads per cycle and SM
  // with compute capability 7.x and 8.x, 32 with 6.0.
  const auto threads_a_cycle = [](const char* model) {
    const Micro micro(model);
    return 16 * kWarpSize / (cost(micro, "cta", 32) - cost(micro, "cta", 16));
  };
  for (const char* model : {"v100", "rtx2080ti", "a100", "rtx3080ti"}) {
    INFO(model);
    CHECK(threads_a_cycle(model) == 16);
  }
  CHECK(threads_a_cycle("sst_p100") == 32);
}

TEST_CASE("a producer and a consumer hand over through two named barriers") {
  // Arrive and wait each way: two latencies a round, unless the arrivals of all pairs take longer.
  const Micro micro("v100");
  const auto& sync = micro.config().sync;
  for (const unsigned pairs : {1u, 2u, 4u, 7u}) {
    INFO(pairs << " pairs");
    const double round = 2 * cost(micro, "pairs", 2 * pairs);
    CHECK(round >= 2 * sync.barrier_latency);
    CHECK(round <= 2 * sync.barrier_latency + 4.0 * pairs * sync.barrier_interval);
    if (pairs == 1) CHECK(round == Approx(2 * sync.barrier_latency).margin(4));
    CHECK(round >= 4.0 * pairs * sync.barrier_interval);
  }
}

TEST_CASE("every barrier is counted by each of its warps") {
  const Micro micro("v100");
  for (const char* pattern : {"cta", "named", "pairs"})
    CHECK(micro
              .run("barriers",
                   {{"pattern", pattern}, {"threads", "128"}, {"instructions", "10"}, {"passes", "3"}})
              .counters.sm.barriers == 4 * 10 * 3);
}

}  // namespace
}  // namespace lockstep::test
