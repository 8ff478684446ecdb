// The parts of a far fault's latency, against closed forms and a second bookkeeping.
#include "uvm/fault_times.hpp"

#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "rig.hpp"

namespace lockstep::uvm {
namespace {

std::uint64_t sum(const Counters& c) {
  return c.fault_detect_cycles + c.fault_queue_cycles + c.fault_service_cycles + c.fault_transfer_cycles +
         c.fault_replay_cycles;
}

TEST_CASE("a lone fault in UVMSmart: the walk, a cycle of staging, the transfer; its handling on the link") {
  for (const bool on_link : {false, true}) {
    Parameters p = smart();
    if (on_link) p.fault_cost = FaultCost::kInline;
    Rig rig(p, 2 << 20, kMany);
    rig.at(2, 9);
    REQUIRE(rig.run());
    const Counters& c = rig.gmmu.counters();
    CHECK(c.timed_faults == 1);
    CHECK(c.fault_detect_cycles == 100);
    CHECK(c.fault_queue_cycles == 1);
    CHECK(c.fault_service_cycles == (on_link ? 66645u : 0u));
    CHECK(c.fault_transfer_cycles == kT4);
    CHECK(c.fault_replay_cycles == 0);
    CHECK(c.fault_latencies[on_link ? 6 : 1] == 1);  // 46.8 us: below 64; 1.83 us: below 2
  }
}

TEST_CASE("a lone fault of the driver: interrupt, its work, transfer, and the replay's walk") {
  Parameters p;
  p.prefetcher = p.prefetcher_oversubscribed = 0;
  p.l2_tlb_entries = p.walk_cache_entries = 0;
  p.walk_levels = 1;
  Rig rig(p, 2 << 20, kMany);
  rig.at(2, 9);
  REQUIRE(rig.run());
  const Counters& c = rig.gmmu.counters();
  CHECK(c.timed_faults == 1);
  CHECK(c.fault_detect_cycles == 100);
  CHECK(c.fault_queue_cycles == cycles(p.interrupt_ns));
  const Cycle work = cycles(p.block_ns) + cycles(4 * 53500 / 1000);
  CHECK(c.fault_service_cycles == cycles(p.batch_ns) + work + 1);  // the transfer is asked for, then starts
  CHECK(c.fault_transfer_cycles == cycles(1750));                  // um_affine, 4 KB
  CHECK(c.fault_replay_cycles == 100);                             // the walk again
}

TEST_CASE("the parts sum to the time from request to answer, in both modes, with evictions") {
  for (const bool driver : {false, true}) {
    Parameters p = driver ? Parameters{} : smart();
    p.prefetcher = p.prefetcher_oversubscribed = 0;
    Rig rig(p, 2 << 20, 100, 4);
    std::mt19937 random(11);
    std::vector<Cycle> asked;  // by token; each page once, one request from each source per cycle
    for (unsigned page = 0; page < 300; ++page) {
      const Cycle when = 2 + 40 * Cycle{page} + random() % 40;
      asked.push_back(when);
      CHECK(rig.at(when, page * 7 % 512, page % 3 == 0, page % 4) == page);
    }
    REQUIRE(rig.run());
    REQUIRE(rig.answered.size() == 300);
    std::uint64_t expected = 0;
    for (const auto& [token, at] : rig.answered) expected += at - asked[token];
    const Counters& c = rig.gmmu.counters();
    CHECK(c.timed_faults == 300);
    CHECK(sum(c) == expected);
    CHECK(std::accumulate(c.fault_latencies.begin(), c.fault_latencies.end(), std::uint64_t{0}) == 300);
    CHECK(rig.gmmu.memory().log().fault_times.size() == 0);
  }
}

TEST_CASE("a page that comes with another's fault has spent its time in the queue") {
  Counters c;
  FaultTimes times(1000000);  // 1 GHz
  times.raised(3, 5, 10, 110);
  times.raised(3, 5, 50, 130);  // a second access of the page
  times.raised(3, 6, 20, 120);
  times.started({3, 0, 16}, 500);
  times.arrived({3, 0, 16}, 900);
  times.replayed(3, 5, 1000, c);
  times.replayed(3, 5, 1100, c);  // only the first one counts
  times.dropped(3, 6);
  CHECK(times.size() == 0);
  CHECK(c.timed_faults == 1);
  CHECK(c.fault_detect_cycles == 100);
  CHECK(c.fault_queue_cycles == 390);
  CHECK(c.fault_service_cycles == 0);
  CHECK(c.fault_transfer_cycles == 400);
  CHECK(c.fault_replay_cycles == 100);
  CHECK(c.fault_latencies[0] == 1);  // 0.99 us
}

}  // namespace
}  // namespace lockstep::uvm
