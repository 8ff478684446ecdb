// Page walks against a queue with several servers, calculated by hand.
#include "uvm/walk_pool.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <tuple>
#include <vector>

#include "tests/persisted.hpp"
#include "tests/random.hpp"

namespace lockstep::uvm {
namespace {

constexpr Cycle kWalk = 4 * 100;

/// Walks only: no shared TLB, no walk cache, no merging.
Parameters walks_only(std::uint32_t walkers) {
  Parameters p;
  p.l2_tlb_entries = 0;
  p.walk_cache_entries = 0;
  p.merge_misses = false;
  p.walkers = walkers;
  return p;
}

struct Trees {
  explicit Trees(unsigned count) {
    space.add(Address{1} << 32, std::uint64_t{count} * kTreeBytes);
    for (unsigned t = 0; t < count; ++t) (void)table.touch(t);
  }
  AddressSpace space;
  PageTable table{space};
};

Access access_of(std::uint64_t token, TreeIndex tree, unsigned page) {
  Access a;
  a.token = token;
  a.tree = tree;
  a.page = static_cast<std::uint16_t>(page);
  return a;
}

using Ends = std::vector<std::pair<Cycle, std::uint64_t>>;  // when, and whose

/// Takes what has ended until nothing is left.
Ends ends_of(WalkPool& pool) {
  Ends ends;
  while (pool.next() != kNever) {
    const Cycle now = pool.next();
    Access access;
    while (pool.pop(now, access)) ends.emplace_back(now, access.token);
  }
  return ends;
}

}  // namespace

TEST_CASE("walks: n walkers serve in the order of arrival, as n servers of constant time") {
  Trees trees(4);
  for (const std::uint32_t walkers : {1u, 3u, 64u}) {
    const Parameters p = walks_only(walkers);
    WalkPool pool(p, trees.table);
    test::Random32 random(walkers);
    std::vector<Cycle> server(walkers);
    Ends expected;
    Cycle now = 0;
    for (std::uint64_t i = 0; i < 500; ++i) {
      now += random() % 200;
      pool.add(now, access_of(i, random() % 4, random() % kPagesPerTree));
      Cycle& first = *std::ranges::min_element(server);
      first = std::max(first, now) + kWalk;
      expected.emplace_back(first, i);
    }
    std::ranges::stable_sort(expected, {}, &std::pair<Cycle, std::uint64_t>::first);
    CHECK(ends_of(pool) == expected);
    CHECK(pool.walks == 500);
    CHECK(pool.size() == 0);
  }
}

TEST_CASE("walks: an unlimited number of walkers delays nothing; equal ends keep the order of arrival") {
  Trees trees(1);
  const Parameters p = walks_only(0);
  WalkPool pool(p, trees.table);
  for (std::uint64_t i = 0; i < 100; ++i) pool.add(50, access_of(i, 0, 99 - static_cast<unsigned>(i)));
  const Ends ends = ends_of(pool);
  REQUIRE(ends.size() == 100);
  for (std::uint64_t i = 0; i < 100; ++i) CHECK(ends[i] == std::pair{50 + kWalk, i});
}

TEST_CASE("walks: misses of a page share its walk while it is under way, and only then") {
  Trees trees(2);
  Parameters p = walks_only(1);
  p.merge_misses = true;
  WalkPool pool(p, trees.table);
  pool.add(0, access_of(0, 0, 5));
  pool.add(399, access_of(1, 0, 5));  // joins
  pool.add(399, access_of(2, 1, 5));  // same page number, another tree
  CHECK(pool.walks == 2);
  CHECK(ends_of(pool) == Ends{{400, 0}, {400, 1}, {800, 2}});
  pool.add(800, access_of(3, 0, 5));  // the walk has ended
  CHECK(pool.walks == 3);
  CHECK(ends_of(pool) == Ends{{1200, 3}});
}

TEST_CASE("walks: one that ends although its access has not been taken yet is not joined") {
  Trees trees(1);
  Parameters p = walks_only(0);
  p.merge_misses = true;
  WalkPool pool(p, trees.table);
  pool.add(0, access_of(0, 0, 1));
  pool.add(400, access_of(1, 0, 1));
  CHECK(pool.walks == 2);
  CHECK(ends_of(pool) == Ends{{400, 0}, {800, 1}});
}

TEST_CASE("walks: the walk cache leaves the last level, and the shared TLB its latency alone") {
  Trees trees(3);
  Parameters p = walks_only(0);
  p.walk_cache_entries = 64;
  p.l2_tlb_entries = 1024;
  WalkPool pool(p, trees.table);
  const Cycle l2 = p.l2_tlb_latency, cache = p.walk_cache_latency;
  pool.add(0, access_of(0, 1, 7));  // cold
  CHECK(ends_of(pool) == Ends{{l2 + cache + kWalk, 0}});
  pool.add(1000, access_of(1, 1, 8));  // the upper levels are known: 2 MiB
  CHECK(ends_of(pool) == Ends{{1000 + l2 + cache + 100, 1}});
  CHECK(pool.cache_hits == 1);
  pool.learn({1, 7}, Granule::kPage);
  pool.add(2000, access_of(2, 1, 7));
  CHECK(ends_of(pool) == Ends{{2000 + l2, 2}});
  CHECK((pool.l2_hits == 1 && pool.l2_misses == 2 && pool.walks == 2));
  CHECK(pool.forget(1, 0, 16, ShootdownScope::kEntry) == 1);
  pool.add(3000, access_of(3, 1, 7));
  CHECK(ends_of(pool) == Ends{{3000 + l2 + cache + 100, 3}});
}

TEST_CASE("walks: a miss that joins a walk has examined the shared TLB before") {
  Trees trees(1);
  Parameters p = walks_only(0);
  p.merge_misses = true;
  p.l2_tlb_entries = 1024;
  WalkPool pool(p, trees.table);
  const Cycle l2 = p.l2_tlb_latency;
  pool.add(0, access_of(0, 0, 1));
  pool.add(kWalk + l2 - 3, access_of(1, 0, 1));  // three cycles before the walk's end
  CHECK(pool.walks == 1);
  CHECK(ends_of(pool) == Ends{{l2 + kWalk, 0}, {2 * l2 + kWalk - 3, 1}});
}

TEST_CASE("walks: walks under way end after a checkpoint as they would have") {
  Trees trees(4);
  Parameters p = walks_only(2);
  p.merge_misses = true;
  p.walk_cache_entries = 64;
  WalkPool pool(p, trees.table), copy(p, trees.table);
  for (std::uint64_t i = 0; i < 40; ++i) pool.add(i * 30, access_of(i, i % 4, static_cast<unsigned>(i * 3)));
  Access first;
  REQUIRE(pool.pop(pool.next(), first));
  test::restore(pool, copy);
  pool.add(2000, access_of(100, 0, 1));
  copy.add(2000, access_of(100, 0, 1));
  CHECK(copy.walks == pool.walks);
  const Ends ends = ends_of(pool);
  CHECK(ends_of(copy) == ends);
  CHECK(ends.size() == 40);
}

}  // namespace lockstep::uvm
