// Prefetchers against published figures, traces and hardware profiles.
#include <catch2/catch.hpp>
#include <random>

#include "support.hpp"

namespace lockstep::uvm {
namespace {

TEST_CASE("prefetchers move what the published figures and traces show") {
  const nlohmann::json cases = golden().at("prefetch");
  REQUIRE(cases.size() == 21);
  for (const auto& one : cases) {
    OneTree t(one.at("pages"));
    const PrefetchPolicy& policy = by_name(prefetchers(), one.at("policy").get<std::string>());
    for (const auto& step : one.at("steps")) {
      INFO(one.at("policy") << " " << one.at("name") << " faults " << step.at("faults"));
      PageSet faults;
      for (const unsigned page : step.at("faults")) faults.insert(page);
      CHECK(t.fault(policy, faults) == pieces(step.at("transfers")));
    }
  }
}

TEST_CASE("without a prefetcher each faulting page travels by itself") {
  OneTree t(512);
  CHECK(t.fault(kNoPrefetch, {7, 8, 300}) == Pieces{{7, 4}, {8, 4}, {300, 4}});
  CHECK(t.it().counted.count() == 3);
}

TEST_CASE("the random prefetcher draws as rand() does and takes free pages only") {
  // rand() of the GNU C library after srand(1): 1804289383, 846930886, 1681692777.
  Random numbers;
  CHECK(numbers.next() == 1804289383);
  CHECK(numbers.next() == 846930886);
  CHECK(numbers.next() == 1681692777);

  OneTree t(512);  // the draws modulo 512: 359, 966 -> 454, 105
  CHECK(t.fault(kRandomPrefetch, {0}) == Pieces{{0, 4}, {1804289383 % 512, 4}});
  CHECK(t.fault(kRandomPrefetch, {846930886 % 512}) == Pieces{{846930886 % 512, 4}});  // itself
  CHECK(t.fault(kRandomPrefetch, {1681692777 % 512 - 1}) ==
        Pieces{{1681692777 % 512 - 1, 4}, {1681692777 % 512, 4}});
}

TEST_CASE("the 128-page prefetcher moves 512 KB from the fault and ends with the tree") {
  OneTree t(512);
  CHECK(t.fault(kLocalityPrefetch, {3}) == Pieces{{3, 4}, {4, 508}});
  CHECK(t.fault(kLocalityPrefetch, {0}) == Pieces{{0, 4}, {1, 8}});
  CHECK(t.fault(kLocalityPrefetch, {500}) == Pieces{{500, 4}, {501, 44}});
}

TEST_CASE("streaming 12 MB takes the published numbers of faults and transfers") {
  struct Expected {
    const PrefetchPolicy* policy;
    unsigned faults, transfers;
  };
  for (const auto& [policy, faults, transfers] :
       {Expected{&kNoPrefetch, 3072, 3072}, Expected{&kSequentialPrefetch, 192, 384},
        Expected{&kTreePrefetch, 36, 72}}) {
    unsigned seen_faults = 0, seen_transfers = 0;
    for (unsigned tree = 0; tree < 6; ++tree) {
      OneTree t(512);
      for (unsigned page = 0; page < 512; ++page) {
        if (t.it().resident.contains(page)) continue;
        ++seen_faults;
        seen_transfers += static_cast<unsigned>(t.fault(*policy, {page}).size());
      }
    }
    CHECK(seen_faults == faults);
    CHECK(seen_transfers == transfers);
  }
}

TEST_CASE("the driver's threshold: more than 51 % of the pages") {
  // 512 pages: the root needs 262 wanted ones; here 15 leaves, a whole one that faults, and some pages more.
  for (const unsigned extra : {5u, 6u}) {
    OneTree t(512);
    for (unsigned leaf = 0; leaf < 15; ++leaf) t.it().resident |= PageSet::leaf(2 * leaf);
    t.it().resident |= PageSet::range(1 * kPagesPerLeaf, extra);
    const bool all = extra == 6;  // 240 + 6 + 16 = 262
    CHECK(t.fault(kDriverPrefetch, {511}).size() > 0);
    CHECK((t.it().resident.count() == 512) == all);
  }
  // In leaves of 64 KB: 17 of 32.
  for (const unsigned leaves : {15u, 16u}) {
    OneTree t(512);
    for (unsigned leaf = 0; leaf < leaves; ++leaf) t.it().resident |= PageSet::leaf(2 * leaf);
    (void)t.fault(kDriverPrefetch, {511});
    CHECK((t.it().resident.count() == 512) == (leaves == 16));
  }
}

TEST_CASE("the driver's copies change with the cause, UVMSmart's end after each faulting page") {
  PageSet faults = PageSet::range(10, 2);
  std::vector<Transfer> transfers;
  cut(0, PageSet::leaf(0), faults, CutRule::kAtCauseChange, transfers);
  REQUIRE(transfers.size() == 3);
  CHECK(transfers[0].run.pages == 10);
  CHECK_FALSE(transfers[0].faulted);
  CHECK(transfers[1].run.pages == 2);
  CHECK(transfers[1].faulted);
  CHECK(transfers[2].run.pages == 4);
  transfers.clear();
  cut(0, PageSet::leaf(0), faults, CutRule::kAfterEachFault, transfers);
  REQUIRE(transfers.size() == 3);
  CHECK(transfers[0].run.pages == 11);
  CHECK(transfers[1].run.pages == 1);
  CHECK(transfers[2].run.pages == 4);
}

TEST_CASE(
    "a leaf whose write-back waits counts for UVMSmart's trees when they name it, and nothing brings it") {
  for (const bool counts : {false, true}) {
    OneTree t(128);  // leaves 0 to 4 are there, 4 is about to leave
    for (unsigned leaf = 0; leaf < 5; ++leaf) t.it().resident |= PageSet::leaf(leaf);
    t.it().counted = t.it().resident - PageSet::leaf(4);
    t.it().leaving = PageSet::leaf(4);
    PrefetchContext context{t.random};
    context.count_leaving = counts;
    std::vector<Transfer> transfers;
    PageSet fault;
    fault.insert(5 * kPagesPerLeaf);
    stage_faults(kTreePrefetch, t.table, t.tree, fault, CutRule::kAfterEachFault, context, transfers);
    REQUIRE(transfers.size() ==
            2);  // 5 of 8 leaves: the others come too, in one run behind the faulting page
    CHECK(transfers[0].run.set() == fault);
    CHECK(transfers[1].run.pages == 3 * kPagesPerLeaf - 1);
    CHECK(t.it().counted.in_leaf(4) == (counts ? kPagesPerLeaf : 0));
  }
}

TEST_CASE("after a decision of the tree prefetcher no node is more than half full and not full") {
  std::mt19937 random(7);
  for (const unsigned pages : {16u, 64u, 256u, 512u})
    for (int round = 0; round < 20; ++round) {
      OneTree t(pages);
      while (!(t.it().resident == t.it().all())) {
        PageSet faults;
        for (int i = 0; i < 1 + round % 3; ++i)
          if (const auto p = static_cast<unsigned>(random() % pages); !t.it().resident.contains(p))
            faults.insert(p);
        if (faults.empty()) continue;
        (void)t.fault(kTreePrefetch, faults);
        CHECK(t.it().counted == t.it().resident);
        CHECK((faults - t.it().resident).empty());
        for_each_node(
            t.it(), [](unsigned size, unsigned counted) { CHECK((counted * 2 <= size || counted == size)); });
      }
    }
}

/// The rule in the words of Ganguly et al., "Interplay between hardware prefetcher and page eviction policy
/// in CPU-GPU unified virtual memory" (ISCA 2019), level by level from the leaves: a node of which more than
/// half is valid or about to be gets all of its leaves that have nothing.
PageSet tree_by_levels(unsigned pages, const PageSet& counted, const PageSet& faults) {
  std::vector<unsigned> leaves(pages / kPagesPerLeaf);
  PageSet list;
  for (unsigned leaf = 0; leaf < leaves.size(); ++leaf) {
    leaves[leaf] = counted.in_leaf(leaf);
    if (faults.in_leaf(leaf) == 0) continue;
    leaves[leaf] = kPagesPerLeaf;
    list |= PageSet::leaf(leaf);
  }
  for (unsigned width = 2; width <= leaves.size(); width *= 2)
    for (unsigned first = 0; first < leaves.size(); first += width) {
      unsigned valid = 0;
      for (unsigned leaf = first; leaf < first + width; ++leaf) valid += leaves[leaf];
      if (2 * valid <= width * kPagesPerLeaf) continue;
      for (unsigned leaf = first; leaf < first + width; ++leaf) {
        if (leaves[leaf] != 0) continue;
        leaves[leaf] = kPagesPerLeaf;
        list |= PageSet::leaf(leaf);
      }
    }
  return list;
}

/// The driver's rule by counting pages: for each fault the largest of the aligned ranges around it that are
/// fuller than the threshold.
PageSet driver_by_counting(const Tree& tree, const PageSet& faults, unsigned threshold) {
  PageSet leaves, list;
  for (unsigned page = 0; page < tree.pages; ++page)
    if (faults.contains(page)) leaves |= PageSet::leaf(page / kPagesPerLeaf);
  list = leaves;
  for (unsigned page = 0; page < tree.pages; ++page) {
    if (!faults.contains(page)) continue;
    unsigned best = 0;
    for (unsigned size = 2 * kPagesPerLeaf; size <= tree.pages; size *= 2) {
      unsigned full = 0;
      for (unsigned p = page - page % size; p < page - page % size + size; ++p)
        full += tree.resident.contains(p) || tree.incoming.contains(p) || leaves.contains(p);
      if (full * 100 > threshold * size) best = size;
    }
    for (unsigned p = 0; p < best; ++p) list.insert(page - page % best + p);
  }
  return list;
}

/// Pages of whole leaves, and some alone.
PageSet random_pages(std::mt19937& random, unsigned pages) {
  PageSet set;
  for (unsigned leaf = 0; leaf < pages / kPagesPerLeaf; ++leaf)
    if (random() % 3 == 0) set |= PageSet::leaf(leaf);
  for (auto n = random() % 20; n > 0; --n) set.insert(static_cast<unsigned>(random() % pages));
  return set;
}

TEST_CASE(
    "prefetchers: lists of the tree's and the driver's rule in random trees, by second implementations") {
  std::mt19937 random(9);
  unsigned along = 0;
  for (int round = 0; round < 1500; ++round) {
    const unsigned pages = kPagesPerLeaf << random() % 6;
    OneTree t(pages);
    t.it().resident = random_pages(random, pages);
    t.it().incoming = random_pages(random, pages) - t.it().resident;
    t.it().counted = t.it().resident | t.it().incoming;
    PageSet faults;
    for (auto n = 1 + random() % 3; n > 0; --n) faults.insert(static_cast<unsigned>(random() % pages));
    faults -= t.it().counted;
    if (faults.empty()) continue;
    PrefetchContext context{t.random};
    context.threshold_percent = static_cast<unsigned>(random() % 101);
    std::vector<PageSet> tree_lists, driver_lists;
    kTreePrefetch.choose(t.it(), faults, context, tree_lists);
    kDriverPrefetch.choose(t.it(), faults, context, driver_lists);
    REQUIRE(tree_lists.size() == 1);
    REQUIRE(driver_lists.size() == 1);
    const PageSet expected = tree_by_levels(pages, t.it().counted, faults);
    REQUIRE(tree_lists[0] == expected);
    REQUIRE(driver_lists[0] == driver_by_counting(t.it(), faults, context.threshold_percent));
    along += expected.count() > faults.count() * kPagesPerLeaf;
  }
  CHECK(along > 100);
}

}  // namespace
}  // namespace lockstep::uvm
