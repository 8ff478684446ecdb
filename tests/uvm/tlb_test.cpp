#include "uvm/tlb.hpp"

#include <catch2/catch.hpp>
#include <list>
#include <random>

#include "uvm/walk_pool.hpp"

namespace lockstep::uvm {
namespace {

TEST_CASE("a TLB holds what a list of recent pages kept by hand holds") {
  std::mt19937 random(2);
  for (const unsigned entries : {1u, 16u, 100u}) {
    Tlb tlb({entries, entries}, {});
    std::list<std::uint32_t> recent;  // newest first
    for (int i = 0; i < 5000; ++i) {
      const auto page = static_cast<std::uint32_t>(random() % 150);
      const Place place{7, page};
      if (random() % 20 == 0) {
        CHECK(tlb.invalidate(7, page, 1) == recent.remove(page));
        continue;
      }
      const bool there = std::find(recent.begin(), recent.end(), page) != recent.end();
      REQUIRE(tlb.lookup(place) == there);
      if (!there) CHECK(tlb.insert(place, Granule::kPage) == (recent.size() == entries));
      recent.remove(page);
      recent.push_front(page);
      if (recent.size() > entries) recent.pop_back();
      REQUIRE(tlb.size() == recent.size());
    }
  }
}

TEST_CASE("entries of 64 KB and 2 MB cover their pages and leave with any of them") {
  Tlb tlb({64, 64}, {16, 16});
  tlb.insert({1, 20}, Granule::kLeaf);
  CHECK(tlb.lookup({1, 16}));
  CHECK(tlb.lookup({1, 31}));
  CHECK_FALSE(tlb.lookup({1, 32}));
  CHECK_FALSE(tlb.lookup({2, 20}));
  tlb.insert({2, 500}, Granule::kTree);
  CHECK(tlb.lookup({2, 0}));
  CHECK(tlb.invalidate(1, 31, 1) == 1);
  CHECK_FALSE(tlb.lookup({1, 16}));
  CHECK(tlb.invalidate(2, 3, 40) == 1);
  CHECK_FALSE(tlb.lookup({2, 500}));
  tlb.insert({3, 0}, Granule::kPage);
  CHECK(tlb.clear() == 1);
  CHECK_FALSE(tlb.lookup({3, 0}));
}

TEST_CASE("walks: levels that the cache knows, and walkers that are busy") {
  AddressSpace space;
  space.add(0, 8 << 20);
  PageTable table(space);
  for (TreeId t = 0; t < 4; ++t) (void)table.touch(t);
  Parameters p;
  p.l2_tlb_entries = p.l2_tlb_large_entries = 0;
  p.walkers = 1;
  p.walk_levels = 4;
  p.walk_step = 100;
  p.walk_cache_latency = 10;
  WalkPool pool(p, table);
  const auto access = [](TreeIndex t, std::uint16_t page, std::uint64_t token) {
    return Access{0, token, t, page, false, 0};
  };
  pool.add(1000, access(0, 1, 1));  // 10 + 4 * 100
  pool.add(1000, access(0, 1, 2));  // shared
  pool.add(1000, access(0, 2, 3));  // after the first, 10 + 100
  pool.add(1000, access(1, 0, 4));  // after that, 410
  std::vector<std::pair<Cycle, std::uint64_t>> ends;
  Access done;
  while (pool.next() != kNever) {
    const Cycle now = pool.next();
    while (pool.pop(now, done)) ends.emplace_back(now, done.token);
  }
  CHECK(ends == std::vector<std::pair<Cycle, std::uint64_t>>{{1410, 1}, {1410, 2}, {1520, 3}, {1930, 4}});
  CHECK(pool.walks == 3);
  CHECK(pool.cache_hits == 1);
}

}  // namespace
}  // namespace lockstep::uvm
