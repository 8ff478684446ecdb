// Fault handling as the driver does it, against what is published of batches on a Titan V.
#include <catch2/catch.hpp>

#include "rig.hpp"

namespace lockstep::uvm {
namespace {

Parameters driver(ReplayPolicy replay = ReplayPolicy::kBatchFlush) {
  Parameters p;
  p.replay = replay;
  p.prefetcher = p.prefetcher_oversubscribed = 0;
  return p;
}

TEST_CASE("one TLB shows at most 56 faults: 64 reads come as batches of 56 and 8, then 32 writes") {
  Rig rig(driver(), 8 << 20, kMany);
  for (unsigned i = 0; i < 64; ++i) rig.at(2 + i, i * 16);
  REQUIRE(rig.run());
  for (unsigned i = 0; i < 32; ++i) rig.at(rig.now + 1 + i, 1024 + i, true);
  REQUIRE(rig.run());
  CHECK(rig.gmmu.batch_sizes() == std::vector<std::uint32_t>{56, 8, 32});
  CHECK(rig.answered.size() == 96);
}

TEST_CASE("a batch holds 256 faults, the rest is flushed and faults again") {
  Rig rig(driver(), 8 << 20, kMany, 10);
  for (unsigned i = 0; i < 300; ++i) rig.at(2, i * 5, false, i % 10);
  REQUIRE(rig.run());
  CHECK(rig.gmmu.batch_sizes() == std::vector<std::uint32_t>{256, 44});
  CHECK(rig.gmmu.counters().buffer_flushed == 44);
  CHECK(rig.gmmu.counters().replays == 2);
  CHECK(rig.gmmu.counters().faults == 300);
}

TEST_CASE("replay policies: how often, and what is left in the buffer becomes a duplicate") {
  struct Expected {
    ReplayPolicy policy;
    std::uint64_t replays;
    bool duplicates;
  };
  // 300 faults in 3 blocks of 2 MB: a first batch of 256, then 44.
  for (const auto& e :
       {Expected{ReplayPolicy::kBatch, 3, true}, Expected{ReplayPolicy::kBatchFlush, 2, false},
        Expected{ReplayPolicy::kOnce, 1, false}}) {
    Rig rig(driver(e.policy), 8 << 20, kMany, 10);
    for (unsigned i = 0; i < 300; ++i) rig.at(2, i * 5, false, i % 10);
    REQUIRE(rig.run());
    CHECK(rig.answered.size() == 300);
    CHECK(rig.gmmu.counters().replays <= e.replays);
    CHECK((rig.gmmu.counters().batch_duplicates > 0) == e.duplicates);
    CHECK(rig.gmmu.counters().faults == 300);
  }
  Rig rig(driver(ReplayPolicy::kBlock), 8 << 20, kMany, 10);
  for (unsigned i = 0; i < 300; ++i) rig.at(2, i * 5, false, i % 10);
  REQUIRE(rig.run());
  CHECK(rig.answered.size() == 300);
  CHECK(rig.gmmu.counters().replays >= 3);
}

TEST_CASE("the time of a lone fault: interrupt, batch, block, KiB and link") {
  Parameters p = driver();
  p.l2_tlb_entries = p.walk_cache_entries = 0;
  p.walk_levels = 1;
  p.block_ns = 500;
  Rig rig(p, 2 << 20, kMany);
  const auto token = rig.at(2, 9);
  REQUIRE(rig.run());
  const auto cycles = [](std::uint64_t ns) { return cycles_of_ps(ns * 1000, {1481000, 16}); };
  const Cycle link = cycles(1750);  // um_affine, 4 KB
  const Cycle cpu = cycles(500) + cycles(4 * 53500 / 1000);
  // The walk ends at 102; the transfer starts a cycle after the driver asks for it; a replay walks again.
  CHECK(rig.answered[token] == 102 + cycles(4000) + cycles(12800) + cpu + 1 + link + 100);
}

TEST_CASE("making room costs an eviction each, and the pages that leave cross the link first") {
  Parameters p = driver();
  Rig rig(p, 4 << 20, 512);
  for (unsigned i = 0; i < 512; ++i) rig.at(2, i);
  REQUIRE(rig.run());
  const Cycle start = rig.now + 1;
  const auto before = rig.gmmu.counters();
  const auto token = rig.at(start, 600);
  REQUIRE(rig.run());
  CHECK(rig.gmmu.counters().evictions == before.evictions + 1);
  const auto cycles = [](std::uint64_t ns) { return cycles_of_ps(ns * 1000, {1481000, 16}); };
  // 2 MB to the host: 0.85 + 0.0745 us per KiB = 153 us, in all about 0.2 ms.
  const Cycle least = cycles(16800) + cycles(153426);
  CHECK(rig.answered[token] - start > least);
  CHECK(rig.answered[token] - start < least + cycles(77000));  // 47 us for the eviction, 17 us for the block
}

TEST_CASE("a full fault buffer loses entries, not accesses") {
  Parameters p = driver();
  p.fault_buffer = 10;
  Rig rig(p, 8 << 20, kMany, 20);
  for (unsigned i = 0; i < 200; ++i) rig.at(2, i * 7, false, i % 20);
  REQUIRE(rig.run());
  CHECK(rig.answered.size() == 200);
  CHECK(rig.gmmu.counters().buffer_overflows > 0);
  CHECK(rig.gmmu.counters().largest_batch <= 10);
}

TEST_CASE("the driver's prefetch rule works on the whole batch") {
  Parameters p = driver();
  p.prefetcher = index_of(prefetchers(), &kDriverPrefetch);
  Rig rig(p, 2 << 20, kMany, 17);
  for (std::uint32_t i = 0; i < 17; ++i) rig.at(2, i * 16, false, i);  // 17 leaves of 32
  REQUIRE(rig.run());
  CHECK(rig.resident() == 512);
  CHECK(rig.gmmu.counters().batches == 1);
}

TEST_CASE("a flush takes what had come by the fetch; with many duplicates also what has come since") {
  for (const unsigned pages : {10u, 4u}) {  // 10 faults: without duplicates, and with 6
    Parameters p;
    p.prefetcher = 0;
    Rig rig(p, 64 << 20, 1 << 18, 15);
    for (unsigned s = 0; s < 10; ++s) rig.at(2, s % pages, false, s);
    for (unsigned s = 10; s < 15; ++s) rig.at(10000, 2000 + s, false, s);  // while the batch is served
    REQUIRE(rig.run());
    CHECK(rig.gmmu.batch_sizes().front() == 10);
    CHECK(rig.gmmu.counters().buffer_flushed == (pages == 4 ? 5u : 0u));
    CHECK(rig.answered.size() == 15);
  }
}

}  // namespace
}  // namespace lockstep::uvm
