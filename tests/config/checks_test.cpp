// Rules between values at their edges, and the channels that limit windows.
#include "config/checks.hpp"

#include <catch2/catch.hpp>

#include "config/config.hpp"
#include "helpers.hpp"

namespace lockstep::config {
namespace {

using Keys = std::vector<std::string_view>;

/// The keys of the rule that is broken; none where all hold.
Keys broken(const GpuConfig& config) {
  const auto found = first_inconsistency(config);
  return found ? found->keys : Keys{};
}

/// Applies both changes to a V100, of which the first keeps a rule by as little as can be, and the other one
/// breaks it.
template <class Kept, class Broken>
void at_edge(const Keys& keys, Kept&& kept, Broken&& breaks) {
  GpuConfig good = resolve("v100"), bad = good;
  kept(good);
  breaks(bad);
  CAPTURE(keys);
  CHECK(broken(good).empty());
  CHECK(broken(bad) == keys);
}

TEST_CASE("rules hold up to their edge and no further: clusters and constant caches") {
  const auto cluster = [](std::uint32_t latency, std::uint32_t barrier) {
    return [=](GpuConfig& c) {
      c.l1.shared_latency = 23;
      c.cluster.latency = latency;
      c.cluster.barrier_latency = barrier;
    };
  };
  at_edge({"cluster.latency", "l1.shared_latency"}, cluster(25, 1), cluster(24, 1));
  at_edge({"cluster.barrier_latency", "cluster.latency", "l1.shared_latency"}, cluster(203, 90),
          cluster(203, 89));
  at_edge({"cluster.barrier_latency", "cluster.latency", "l1.shared_latency"}, cluster(0, 0),
          cluster(223, 99));
  const auto constants = [](std::uint32_t l1, std::uint32_t l15) {
    return [=](GpuConfig& c) {
      c.mio.const_l1_bytes = l1;
      c.mio.const_l15_bytes = l15;
    };
  };
  at_edge({"mio.const_l1_bytes", "mio.const_l15_bytes"}, constants(2048 + 64, 65536 + 256),
          constants(2048 + 32, 65536));
  at_edge({"mio.const_l1_bytes", "mio.const_l15_bytes"}, constants(64, 256), constants(64, 64));
  const auto latencies = [](std::uint32_t l1, std::uint32_t l15) {
    return [=](GpuConfig& c) {
      c.mio.const_latency = l1;
      c.mio.const_l15_latency = l15;
    };
  };
  at_edge({"mio.const_l15_latency", "mio.const_latency"}, latencies(40, 40), latencies(40, 39));
}

TEST_CASE("rules hold up to their edge and no further: the machine") {
  at_edge(
      {"gpu.gpcs", "gpu.sms", "gpu.sms_per_tpc"}, [](GpuConfig& c) { c.gpu.gpcs = 40; },
      [](GpuConfig& c) { c.gpu.gpcs = 41; });
  const auto slow_l2 = [](std::uint64_t core, std::uint64_t l2) {
    return [=](GpuConfig& c) {
      c.clock.core_khz = c.clock.icnt_khz = c.clock.dram_khz = core;
      c.clock.l2_khz = l2;
    };
  };
  at_edge({"clock.core_khz", "clock.icnt_khz", "clock.l2_khz", "clock.dram_khz"}, slow_l2(1'600'000, 50'000),
          slow_l2(1'600'001, 50'000));
  at_edge({"clock.core_khz", "clock.icnt_khz", "clock.l2_khz", "clock.dram_khz"}, slow_l2(50'000, 1'600'000),
          slow_l2(50'000, 1'600'001));
  at_edge(
      {"sm.max_ctas", "sm.max_warps"}, [](GpuConfig& c) { c.sm.max_ctas = 64; },
      [](GpuConfig& c) { c.sm.max_ctas = 65; });
  at_edge(
      {"sm.max_threads", "sm.max_warps"}, [](GpuConfig& c) { c.sm.max_threads = 2048; },
      [](GpuConfig& c) { c.sm.max_threads = 2080; });
}

TEST_CASE("rules hold up to their edge and no further: caches and DRAM") {
  const auto carveout = [](std::uint32_t kib) {
    return [=](GpuConfig& c) {
      c.l1.bytes = 128 * 1024 + 128;
      c.l1.ways = 1;
      c.l1.shared_carveouts_kib = {0, kib};
    };
  };
  at_edge({"l1.shared_carveouts_kib", "l1.bytes"}, carveout(128), carveout(129));
  at_edge(
      {"l2.dirty_ways", "l2.ways"}, [](GpuConfig& c) { c.l2.dirty_ways = c.l2.ways; },
      [](GpuConfig& c) { c.l2.dirty_ways = c.l2.ways + 1; });
  at_edge(
      {"l2.dirty_ways", "l2.ways"}, [](GpuConfig& c) { c.l2.dirty_ways = 128; },
      [](GpuConfig& c) { c.l2.dirty_ways = 127; });
  at_edge(
      {"dram.write_low", "dram.write_high", "dram.write_queue"},
      [](GpuConfig& c) { c.dram.write_high = c.dram.write_queue; },
      [](GpuConfig& c) { c.dram.write_high = c.dram.write_queue + 1; });
  at_edge(
      {"dram.write_low", "dram.write_high", "dram.write_queue"},
      [](GpuConfig& c) { c.dram.write_low = c.dram.write_high - 1; },
      [](GpuConfig& c) { c.dram.write_low = c.dram.write_high; });
  const auto refresh = [](std::uint32_t spare) {
    return [=](GpuConfig& c) {  // close, refresh, then tFAW, which is more than tRRD_L, and an access
      c.dram.tREFI = c.dram.tRAS + c.dram.tRP + c.dram.tRFC + c.dram.tFAW + c.dram.tRCD - 1 + spare;
    };
  };
  const Keys keys{"dram.tREFI", "dram.tRFC", "dram.tRAS",  "dram.tRP",
                  "dram.tRCD",  "dram.tFAW", "dram.tRRD_L"};
  const auto times = [&](std::uint32_t spare) {
    return [=](GpuConfig& c) {
      c.dram.tRFC = 100;  // so that a refresh is no more than half of the interval
      c.dram.tRAS = 100;
      refresh(spare)(c);
    };
  };
  at_edge(keys, times(1), times(0));
}

TEST_CASE("the shortest channel is the least of each, in core cycles") {
  GpuConfig c;
  c.clock.core_khz = 1'500'000;
  c.clock.icnt_khz = 1'000'000;
  c.icnt.request_latency = c.icnt.reply_latency = 100;  // 150 core cycles
  c.icnt.far_latency = 10;                              // 15
  c.launch.cta_latency_ps = c.launch.done_latency_ps = 200'000;
  c.host.command_latency_ps = c.host.data_latency_ps = 300'000;
  c.l2.halves = 1;
  CHECK(shortest_channel(c) == 150);
  c.l2.halves = 2;
  CHECK(shortest_channel(c) == 15);
  c.icnt.far_latency = 1000;
  c.icnt.reply_latency = 99;  // 148.5: rounded down, as a window must be shorter
  CHECK(shortest_channel(c) == 148);
  c.icnt.request_latency = 97;
  CHECK(shortest_channel(c) == 145);
  c.launch.done_latency_ps = 80'000;  // 120
  CHECK(shortest_channel(c) == 120);
  c.launch.cta_latency_ps = 60'000;
  CHECK(shortest_channel(c) == 90);
  c.host.data_latency_ps = 40'000;
  CHECK(shortest_channel(c) == 60);
  c.host.command_latency_ps = 20'000;
  CHECK(shortest_channel(c) == 30);
}

TEST_CASE("times become core cycles, rounded up, also where they are long") {
  GpuConfig c;
  c.clock.core_khz = 1'380'000;
  CHECK(c.core_cycles_of_ps(0) == 0);
  CHECK(c.core_cycles_of_ps(1) == 1);
  CHECK(c.core_cycles_of_ps(50'000) == 69);
  CHECK(c.core_cycles_of_ps(50'001) == 70);
  CHECK(c.core_cycles_of_ps(1'000'000'000'000'000'000) == 1'380'000'000'000'000);  // 11 days
}

}  // namespace
}  // namespace lockstep::config
