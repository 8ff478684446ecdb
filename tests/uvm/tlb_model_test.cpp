// A TLB with entries of all sizes against lists of what was used, and sets of it that may not forget too
// much.
#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <memory>
#include <set>
#include <tuple>

#include "tests/persisted.hpp"
#include "tests/random.hpp"
#include "uvm/page_set.hpp"
#include "uvm/tlb.hpp"

namespace lockstep::uvm {
namespace {

using lockstep::test::Random32;
using Covered = std::tuple<Granule, TreeId, std::uint32_t>;  // page, leaf or 0

Covered covering(Place place, Granule granule) {
  return {granule, place.tree,
          granule == Granule::kPage   ? place.page
          : granule == Granule::kLeaf ? place.page / kPagesPerLeaf
                                      : 0u};
}

/// A fully associative array: the newest first.
struct ListedArray {
  std::size_t most = 0;
  std::list<Covered> entries{};
  bool touch(const Covered& one) {
    const auto found = std::ranges::find(entries, one);
    if (found == entries.end()) return false;
    entries.splice(entries.begin(), entries, found);
    return true;
  }
  /// Whether another had to leave.
  bool insert(const Covered& one) {
    if (touch(one)) return false;
    entries.push_front(one);
    if (entries.size() <= most) return false;
    entries.pop_back();
    return true;
  }
};

TEST_CASE("a TLB of all entry sizes holds what lists of recent entries hold, kept states included") {
  Random32 random(6);
  auto tlb = std::make_unique<Tlb>(Tlb::Shape{24, 24}, Tlb::Shape{3, 3});
  ListedArray base{24}, large{3};
  unsigned hits = 0, left = 0;
  for (int step = 0; step < 30'000; ++step) {
    const Place place{1 + random() % 5, random() % 80};
    const auto granule = static_cast<Granule>(random() % 3);
    switch (random() % 8) {
      case 0: {
        const std::uint32_t pages = 1 + random() % 40;
        std::uint32_t removed = 0;
        const auto covers = [&](const Covered& entry) {
          const auto& [of, tree, at] = entry;
          if (tree != place.tree) return false;
          const std::uint32_t size = of == Granule::kPage   ? 1
                                     : of == Granule::kLeaf ? kPagesPerLeaf
                                                            : kPagesPerTree;
          return at * size < place.page + pages && place.page < (at + 1) * size;
        };
        for (ListedArray* array : {&base, &large})
          removed += static_cast<std::uint32_t>(std::erase_if(array->entries, covers));
        REQUIRE(tlb->invalidate(place.tree, place.page, pages) == removed);
        left += removed;
        break;
      }
      case 1:
      case 2:
      case 3:
        REQUIRE(tlb->insert(place, granule) ==
                (granule == Granule::kTree ? large : base).insert(covering(place, granule)));
        break;
      default: {
        const bool hit = base.touch(covering(place, Granule::kPage)) ||
                         base.touch(covering(place, Granule::kLeaf)) ||
                         large.touch(covering(place, Granule::kTree));
        REQUIRE(tlb->lookup(place) == hit);
        hits += hit;
      }
    }
    REQUIRE(tlb->size() == base.entries.size() + large.entries.size());
    if (step % 500 == 0) {
      auto fresh = std::make_unique<Tlb>(Tlb::Shape{24, 24}, Tlb::Shape{3, 3});
      lockstep::test::restore(*tlb, *fresh);
      tlb = std::move(fresh);
    }
  }
  CHECK(hits > 3000);
  CHECK(left > 1000);
  CHECK(tlb->clear() == base.entries.size() + large.entries.size());
}

TEST_CASE("a set-associative TLB holds as many consecutive pages as it has entries, wherever they begin") {
  for (const std::uint32_t ways : {1u, 2u, 4u, 16u})
    for (const std::uint32_t first : {0u, 5u, 100u, 448u}) {
      Tlb tlb({64, ways}, {});
      for (std::uint32_t p = first; p < first + 64; ++p) CHECK_FALSE(tlb.insert({9, p}, Granule::kPage));
      for (std::uint32_t p = first; p < first + 64; ++p) CHECK(tlb.lookup({9, p}));
      CHECK(tlb.size() == 64);
      CHECK(tlb.insert({9, first == 0 ? 64 : first - 1}, Granule::kPage));  // one of them leaves
      CHECK(tlb.size() == 64);
    }
}

TEST_CASE("a TLB hits nothing that was not inserted since it was dropped last") {
  Random32 random(8);
  for (const std::uint32_t ways : {2u, 8u}) {
    Tlb tlb({40, ways}, {});
    std::set<std::pair<TreeId, std::uint32_t>> inserted;
    for (int step = 0; step < 20'000; ++step) {
      const Place place{random() % 4, random() % 64};
      if (random() % 10 == 0) {
        (void)tlb.invalidate(place.tree, place.page, 1);
        inserted.erase({place.tree, place.page});
        REQUIRE_FALSE(tlb.lookup(place));
      } else if (random() % 3 == 0) {
        tlb.insert(place, Granule::kPage);
        inserted.emplace(place.tree, place.page);
        REQUIRE(tlb.lookup(place));
      } else if (tlb.lookup(place)) {
        REQUIRE(inserted.contains({place.tree, place.page}));
      }
      REQUIRE(tlb.size() <= 40);
    }
  }
}

}  // namespace
}  // namespace lockstep::uvm
