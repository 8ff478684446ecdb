// What must not hang or go wrong: too little memory, nothing that may leave, more faults than there is room
// for, odd ranges. Each has a defined result.
#include <catch2/catch.hpp>
#include <random>

#include "rig.hpp"

namespace lockstep::uvm {
namespace {

/// Random accesses to 2 MB and a remainder; all of them are answered, and no more is resident than fits.
void hammer(const Parameters& p, std::uint64_t frames, std::uint64_t expected_most) {
  Rig rig(p, {2 << 20, 192 << 10}, frames, 3);
  std::mt19937 random(static_cast<std::uint32_t>(frames));
  for (unsigned i = 0; i < 200; ++i)
    rig.at(2 + random() % 200000, random() % 576, random() % 2 == 0,
           static_cast<std::uint32_t>(random() % 3));
  REQUIRE(rig.run());
  CHECK(rig.answered.size() == 200);
  CHECK(rig.resident() <= expected_most);
  CHECK(rig.gmmu.memory().frames().free() + rig.resident() == frames);
  CHECK(rig.gmmu.idle());
}

TEST_CASE("memory of less than a fault group: every prefetcher with every evictor, both fault modes") {
  for (const bool driver : {false, true})
    for (std::uint8_t prefetcher = 0; prefetcher < prefetchers().size(); ++prefetcher)
      for (std::uint8_t evictor = 0; evictor < evictors().size(); ++evictor)
        for (const std::uint64_t frames : {1u, 3u, 15u, 17u}) {
          INFO("driver " << driver << " prefetcher " << unsigned{prefetcher} << " evictor "
                         << unsigned{evictor} << " frames " << frames);
          Parameters p = driver ? Parameters{} : smart();
          p.prefetcher = p.prefetcher_oversubscribed = prefetcher;
          p.evictor = evictor;
          hammer(p, frames, frames);
        }
}

TEST_CASE("memory that grows during the run: from a page to more than all of it, every evictor") {
  for (const bool driver : {false, true})
    for (std::uint8_t evictor = 0; evictor < evictors().size(); ++evictor) {
      INFO("driver " << driver << " evictor " << unsigned{evictor});
      Parameters p = driver ? Parameters{} : smart();
      p.evictor = evictor;
      Rig rig(p, {2 << 20, 192 << 10}, 1, 1);
      std::size_t accesses = 0;
      for (const std::uint64_t frames : {1u, 40u, 600u}) {
        rig.gmmu.enlarge_memory(frames * kPageBytes);
        CHECK(rig.gmmu.memory().frames().all() == frames);
        for (unsigned i = 0; i < 48; ++i, ++accesses) rig.at(rig.now + 2 + i, i * 12, i % 2 == 0);
        REQUIRE(rig.run());
        CHECK(rig.answered.size() == accesses);
        CHECK(rig.gmmu.memory().frames().free() + rig.resident() == frames);
      }
      CHECK(rig.resident() >= 48);  // nothing had to leave any more
      rig.gmmu.enlarge_memory(kPageBytes);
      CHECK(rig.gmmu.memory().frames().all() == 600);
    }
}

TEST_CASE(
    "memory that grows before its first page is given out in chunks as if it had been so from the start") {
  Rig grown(Parameters{}, {2 << 20, 2 << 20}, 1, 1), whole(Parameters{}, {2 << 20, 2 << 20}, 512, 1);
  grown.gmmu.enlarge_memory(512 * kPageBytes);
  for (Rig* rig : {&grown, &whole}) {
    for (unsigned i = 0; i < 8; ++i) rig->at(2 + 300000 * i, i % 2 * 512 + i);  // two chunks in turn
    REQUIRE(rig->run());
  }
  CHECK(grown.answered == whole.answered);
  CHECK(grown.gmmu.counters().evictions == whole.gmmu.counters().evictions);
  CHECK(whole.gmmu.counters().evictions > 0);
}

TEST_CASE("every unit reserved: what is oldest leaves all the same, and is counted as forced") {
  for (const bool driver : {false, true})
    for (std::uint8_t evictor = 0; evictor < evictors().size(); ++evictor) {
      Parameters p = driver ? Parameters{} : smart();
      p.evictor = evictor;
      p.reserve_percent = 100;
      Rig rig(p, 4 << 20, 64, 1);
      for (unsigned i = 0; i < 256; ++i) rig.at(2 + i, i * 4);
      REQUIRE(rig.run());
      CHECK(rig.answered.size() == 256);
      CHECK(rig.gmmu.counters().forced_evictions > 0);
      CHECK(rig.gmmu.counters().forced_evictions == rig.gmmu.counters().evictions);
    }
}

TEST_CASE("a unit of which one page is resident leaves with that page") {
  Parameters p = smart();  // LRU of whole 2 MB, where UVMSmart hangs
  Rig rig(p, 4 << 20, 1, 1);
  rig.at(2, 7);
  REQUIRE(rig.run());
  rig.at(rig.now + 1, 600);
  REQUIRE(rig.run());
  CHECK(rig.answered.size() == 2);
  CHECK(rig.pieces(Event::Kind::kWriteBack) == std::vector<std::pair<unsigned, unsigned>>{{7, 4}});
  CHECK(rig.gmmu.counters().forced_evictions == 1);
}

TEST_CASE("a fault buffer of one entry: every fault gets its turn") {
  for (const ReplayPolicy replay :
       {ReplayPolicy::kBlock, ReplayPolicy::kBatch, ReplayPolicy::kBatchFlush, ReplayPolicy::kOnce}) {
    Parameters p;
    p.prefetcher = p.prefetcher_oversubscribed = 0;
    p.fault_buffer = 1;
    p.replay = replay;
    Rig rig(p, 8 << 20, kMany, 8);
    for (unsigned i = 0; i < 100; ++i) rig.at(2, i * 19, false, i % 8);
    REQUIRE(rig.run());
    CHECK(rig.answered.size() == 100);
    CHECK(rig.gmmu.counters().largest_batch == 1);
    CHECK(rig.gmmu.counters().buffer_overflows > 0);
    CHECK(rig.gmmu.counters().faults == 100);
  }
}

TEST_CASE("orders for memory that is not managed, or only in part") {
  using Order = ManagedCommand::Kind;
  for (const auto kind : {Order::kPrefetch, Order::kHostRead, Order::kHostWrite, Order::kDeviceRead,
                          Order::kDeviceWrite, Order::kRelease, Order::kAdvise}) {
    Rig rig(smart(), 64 << 10, kMany, 1);
    rig.gmmu.submit({kind, Advice::kSetReadMostly, false, 0, 0x1000, 4096});            // nothing managed
    rig.gmmu.submit({kind, Advice::kSetReadMostly, false, 1, kBase, 0});                // nothing at all
    rig.gmmu.submit({kind, Advice::kSetReadMostly, false, 2, kBase + 61441, 1 << 20});  // its last page
    rig.gmmu.submit({kind, Advice::kSetReadMostly, false, 3, kBase - 5, 6});            // its first one
    rig.gmmu.submit({kind, Advice::kSetReadMostly, false, 4, 1, ~std::uint64_t{0}});    // everything
    REQUIRE(rig.run());
    CHECK(rig.completed.size() == 5);
    const bool brings = kind == Order::kPrefetch || kind == Order::kDeviceRead || kind == Order::kDeviceWrite;
    CHECK(rig.resident() == (brings ? 16u : 0u));
    if (brings) CHECK(rig.gmmu.counters().bytes_to_device == 65536);
  }
}

}  // namespace
}  // namespace lockstep::uvm
