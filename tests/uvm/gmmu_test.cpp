// The GMMU by itself against UVMSmart's latencies and published examples.
#include <catch2/catch.hpp>
#include <list>
#include <random>

#include "rig.hpp"
#include "support.hpp"

namespace lockstep::uvm {
namespace {

TEST_CASE("a translation of a resident page takes the walk, a far fault its transfer too") {
  Rig rig(smart(), 2 << 20, kMany);
  const auto fault = rig.at(2, 7);  // a miss of core cycle 0 is accepted in cycle 2
  REQUIRE(rig.run());
  CHECK(rig.answered[fault] == 103 + kT4);  // 2708
  const Cycle start = rig.now + 1;
  const auto hit = rig.at(start + 2, 7);
  REQUIRE(rig.run());
  CHECK(rig.answered[hit] == start + 102);
}

TEST_CASE("with the fault's cost on the link each fault group waits 45 us more") {
  Parameters p = smart();
  p.fault_cost = FaultCost::kInline;
  Rig rig(p, 2 << 20, kMany);
  const auto first = rig.at(2, 7), second = rig.at(3, 400);
  REQUIRE(rig.run());
  CHECK(rig.answered[first] == 69353);
  CHECK(rig.answered[second] == 69353 + 66645 + kT4);
  CHECK(rig.gmmu.counters().fault_handling_cycles == 2 * 66645);
}

TEST_CASE("accesses to one absent page share one fault and one transfer") {
  Rig rig(smart(), 2 << 20, kMany, 8);
  std::vector<std::uint64_t> tokens;
  for (std::uint32_t s = 0; s < 8; ++s) tokens.push_back(rig.at(2 + 100 * s, 30, false, s));
  REQUIRE(rig.run());
  for (const auto t : tokens) CHECK(rig.answered[t] == 103 + kT4);
  const Counters& c = rig.gmmu.counters();
  CHECK(c.faults == 1);
  CHECK(c.pending == 7);
  CHECK(c.page_misses == 8);
  CHECK(c.transfers == 1);
}

TEST_CASE("sixteen faults of one leaf in one cycle leave nothing to prefetch") {
  Parameters p = smart();
  p.prefetcher = index_of(prefetchers(), &kTreePrefetch);
  Rig rig(p, 2 << 20, kMany, 16);
  for (std::uint32_t s = 0; s < 16; ++s) rig.at(2, s, false, s);
  REQUIRE(rig.run());
  CHECK(rig.gmmu.counters().faults == 16);
  CHECK(rig.pieces(Event::Kind::kTransfer).size() == 16);
  CHECK(rig.pieces(Event::Kind::kPrefetch).empty());
}

TEST_CASE("who waits for a prefetched page wakes with the transfer that holds it") {
  Parameters p = smart();
  p.prefetcher = index_of(prefetchers(), &kSequentialPrefetch);
  Rig rig(p, 2 << 20, kMany, 2);
  const auto fault = rig.at(2, 0), joined = rig.at(500, 9, false, 1);
  REQUIRE(rig.run());
  CHECK(rig.answered[fault] == 103 + kT4);
  CHECK(rig.answered[joined] == 103 + kT4 + kT60);
  CHECK(rig.gmmu.counters().faults == 1);
  CHECK(rig.gmmu.counters().pending == 1);
  CHECK(rig.gmmu.counters().prefetched_pages == 15);
  CHECK(rig.gmmu.counters().prefetched_used == 1);
}

TEST_CASE("12 MB streamed take the published numbers of faults and transfers, on the clock") {
  struct Expected {
    const PrefetchPolicy* policy;
    std::uint64_t faults, transfers;
  };
  for (const auto& e : {Expected{&kNoPrefetch, 3072, 3072}, Expected{&kSequentialPrefetch, 192, 384},
                        Expected{&kTreePrefetch, 36, 72}}) {
    Parameters p = smart();
    p.prefetcher = index_of(prefetchers(), e.policy);
    Rig rig(p, 12 << 20, kMany);
    for (std::uint64_t page = 0; page < 3072; ++page) {
      rig.at(rig.now + 1, page);
      REQUIRE(rig.run());
    }
    CHECK(rig.gmmu.counters().faults == e.faults);
    CHECK(rig.gmmu.counters().transfers == e.transfers);
    CHECK(rig.gmmu.counters().bytes_to_device == 12 << 20);
  }
}

TEST_CASE("a whole 2 MB makes room, and the page that waits starts with its write-back") {
  Rig rig(smart(), 4 << 20, 512);
  for (unsigned page = 0; page < 512; ++page) rig.at(2, page, true);
  REQUIRE(rig.run());
  CHECK(rig.resident() == 512);
  const Cycle start = rig.now + 1;
  const auto fault = rig.at(start + 2, 512);
  REQUIRE(rig.run());
  CHECK(rig.answered[fault] == start + 103 + kT4);
  CHECK(rig.pieces(Event::Kind::kWriteBack) == Pieces{{0, 2048}});
  const Event& write = *std::find_if(rig.events.begin(), rig.events.end(),
                                     [](const Event& e) { return e.kind == Event::Kind::kWriteBack; });
  CHECK(write.start == start + 103);
  CHECK(write.end - write.start == 242080);
  CHECK(rig.gmmu.counters().evicted_dirty_pages == 512);
}

TEST_CASE("least recently used 4 KB: A B C D A E evicts B") {
  Parameters p = smart();
  p.evictor = index_of(evictors(), &kLruPage);
  Rig rig(p, 64 << 10, 4);
  for (const unsigned page : {0u, 1u, 2u, 3u, 0u, 4u}) {
    rig.at(rig.now + 1, page);
    REQUIRE(rig.run());
  }
  CHECK(rig.pieces(Event::Kind::kWriteBack) == Pieces{{1, 4}});
  CHECK(rig.gmmu.counters().oversubscribed == 1);
}

TEST_CASE("memory full of partly resident units does not hang") {
  Rig rig(smart(), 4 << 20, 300);  // no tree fits
  for (std::uint64_t i = 0; i < 400; ++i) rig.at(rig.now + 1 + i, i * 2 % 1024);
  REQUIRE(rig.run());
  CHECK(rig.answered.size() == 400);
  CHECK(rig.gmmu.counters().forced_evictions > 0);
  CHECK(rig.resident() <= 300);
}

TEST_CASE("an access takes a staged write-back back") {
  Parameters p = smart();
  p.evictor = index_of(evictors(), &kSequentialLeaf);
  Rig rig(p, 1 << 20, 64);  // four leaves
  for (unsigned page = 0; page < 64; ++page) rig.at(2 + page, page);
  REQUIRE(rig.run());
  for (unsigned i = 0; i < 40; ++i) rig.at(rig.now + 1, 64 + i);  // one a cycle is accepted
  // The first leaf is on the link for 8702 cycles, so the second one waits.
  while (rig.gmmu.counters().evictions < 2) {
    const Cycle due = rig.inputs.empty() ? kNever : rig.inputs.begin()->first;
    rig.now = std::max(rig.now + 1, std::min(rig.gmmu.next(), due));
    REQUIRE(rig.now < 10'000'000);
    rig.step();
  }
  CHECK(rig.tree(0).leaving == PageSet::leaf(1));
  CHECK_FALSE(rig.tree(0).counted.contains(16));
  rig.now += 1;
  rig.hit_at(rig.now, 20);
  rig.step();
  CHECK(rig.gmmu.counters().cancelled_write_backs == 1);
  CHECK((rig.tree(0).leaving & PageSet::leaf(1)).empty());
  CHECK((PageSet::leaf(1) - rig.tree(0).dirty).empty());  // all of it, as published
  CHECK((PageSet::leaf(1) - rig.tree(0).counted).empty());
  REQUIRE(rig.run());
  CHECK(rig.answered.size() == 104);
}

TEST_CASE("a clean 2 MB is dropped, one that was written is not") {
  for (const bool write : {false, true}) {
    Parameters p = smart();
    p.clean_drop = CleanDrop::kReadOnlyTrees;
    Rig rig(p, 4 << 20, 512);
    for (unsigned page = 0; page < 512; ++page) rig.at(2, page, write && page == 77);
    REQUIRE(rig.run());
    rig.at(rig.now + 1, 600);
    REQUIRE(rig.run());
    CHECK(rig.gmmu.counters().write_backs == (write ? 1u : 0u));
    CHECK(rig.gmmu.counters().clean_drops == (write ? 0u : 1u));
  }
}

TEST_CASE("in the safe order frames come back when their data have left and all TLBs have answered") {
  Parameters p = smart();
  p.early_reuse = false;
  p.evictor = index_of(evictors(), &kLruPage);
  p.l2_shootdown = 200;
  Rig rig(p, 64 << 10, 1);
  rig.at(2, 0);
  REQUIRE(rig.run());
  const Cycle start = rig.now + 1;
  const auto fault = rig.at(start + 2, 1);
  const auto again = rig.at(start + 400, 0);  // of the page that is leaving
  REQUIRE(rig.run());
  // Staged in +102, decided in +103, told; written from +303 on, read after that.
  CHECK(rig.answered[fault] == start + 103 + 200 + kT4 + kT4);
  CHECK(rig.answered.contains(again));
  CHECK(rig.shootdowns.size() == 2);
  CHECK(rig.gmmu.counters().thrashed_pages == 1);
}

TEST_CASE("visiting every cycle changes nothing") {
  std::mt19937 random(5);
  for (unsigned round = 0; round < 24; ++round) {
    Parameters p = round % 2 ? smart() : Parameters{};
    p.prefetcher = static_cast<std::uint8_t>(round % prefetchers().size());
    p.prefetcher_oversubscribed = static_cast<std::uint8_t>(round / 2 % prefetchers().size());
    p.evictor = static_cast<std::uint8_t>(round % evictors().size());
    p.early_reuse = round % 3 == 0 && round % 2;
    p.reserve_percent = round % 5 == 0 ? 10 : 0;
    p.free_buffer_percent = round % 4 == 1 ? 5 : 0;
    std::vector<std::map<std::uint64_t, Cycle>> seen;
    const auto seed = static_cast<std::uint32_t>(random());
    for (const bool every : {false, true}) {
      // A slow clock: 45 us are 450 cycles, so that each of them can be visited.
      Rig rig(p, {3 << 20}, 100 + round * 20, 4, 10000);
      std::mt19937 accesses(seed);
      for (int i = 0; i < 300; ++i) {
        const auto when = accesses() % 5000, page = accesses() % 768, kind = accesses() % 12;
        rig.at(2 + when, page, kind < 4, static_cast<std::uint32_t>(kind % 4));
      }
      REQUIRE(rig.run(every, 4'000'000));
      CHECK(rig.answered.size() == 300);
      const Counters& c = rig.gmmu.counters();
      CHECK(c.page_hits + c.page_misses >= 300);
      if (p.fault_mode == FaultMode::kPerCycle) CHECK(c.page_misses == c.faults + c.pending);
      CHECK(rig.resident() + rig.gmmu.memory().frames().free() == rig.gmmu.memory().frames().all());
      for (TreeIndex t = 0; t < rig.gmmu.memory().table().size(); ++t) {
        const Tree& tree = rig.gmmu.memory().table()[t];
        CHECK((tree.resident - tree.counted).empty());
        if (!p.early_reuse) CHECK(tree.counted == tree.resident);
      }
      seen.push_back(rig.answered);
    }
    CHECK(seen[0] == seen[1]);
  }
}

TEST_CASE("memory of one page, and of less than a fault group, gets there") {
  for (const std::uint64_t frames : {1u, 2u, 15u, 17u})
    for (const bool driver : {false, true})
      for (std::size_t prefetcher = 0; prefetcher < prefetchers().size(); ++prefetcher) {
        Parameters p = driver ? Parameters{} : smart();
        p.prefetcher = p.prefetcher_oversubscribed = static_cast<std::uint8_t>(prefetcher);
        p.reserve_percent = 100;  // every unit reserved
        Rig rig(p, 1 << 20, frames, 3);
        for (unsigned i = 0; i < 60; ++i) rig.at(2 + i, i * 37 % 256, i % 2 == 0, i % 3);
        REQUIRE(rig.run());
        CHECK(rig.answered.size() == 60);
        CHECK(rig.resident() <= frames);
      }
}

TEST_CASE("a footprint of 100 GB touched sparsely") {
  Rig rig(Parameters{}, std::uint64_t{100} << 30, 1 << 20);
  for (std::uint64_t i = 0; i < 1000; ++i) rig.at(2 + i, i * 26214 + 3);
  REQUIRE(rig.run());
  CHECK(rig.answered.size() == 1000);
  CHECK(rig.gmmu.memory().table().size() == 1000);
}

}  // namespace
}  // namespace lockstep::uvm
