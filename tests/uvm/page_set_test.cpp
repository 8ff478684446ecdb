// Sets of pages against std::set, and how lists of pages are cut into transfers by a second implementation.
#include "uvm/page_set.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "uvm/transfer.hpp"

namespace lockstep::uvm {
namespace {

using PlainPages = std::set<unsigned>;
using Pairs = std::vector<std::pair<unsigned, unsigned>>;

PageSet page_set_of(const PlainPages& pages) {
  PageSet set;
  for (const unsigned p : pages) set.insert(p);
  return set;
}

PlainPages members_of(const PageSet& set) {
  PlainPages pages;
  for (unsigned p = 0; p < kPagesPerTree; ++p)
    if (set.contains(p)) pages.insert(p);
  return pages;
}

/// Runs of random lengths, so that there are long ones, single pages, and some over several words.
PlainPages random_pages(std::mt19937& random) {
  PlainPages pages;
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const unsigned longest = 1u << below(9);
  for (unsigned p = below(3) == 0 ? 0 : below(100); p < kPagesPerTree; p += 1 + below(longest)) {
    const unsigned end = std::min(kPagesPerTree, p + 1 + below(longest));
    for (; p < end; ++p) pages.insert(p);
  }
  return pages;
}

Pairs runs_of(const PlainPages& pages) {
  Pairs runs;
  for (const unsigned p : pages) {
    if (!runs.empty() && runs.back().first + runs.back().second == p)
      ++runs.back().second;
    else
      runs.emplace_back(p, 1);
  }
  return runs;
}

std::string text_of(const std::vector<Transfer>& transfers) {
  std::string text;
  for (const Transfer& t : transfers)
    text += std::to_string(t.run.first) + "+" + std::to_string(t.run.pages) + (t.faulted ? "f " : "p ");
  return text;
}

}  // namespace

TEST_CASE("a tree is 2 MiB: 512 pages of 4 KiB in 32 leaves of 64 KiB") {
  CHECK(kPagesPerTree == 512);
  CHECK(kLeavesPerTree == 32);
  CHECK(kPagesPerLeaf == 16);
}

TEST_CASE("random sets of pages: members, counts, neighbours and runs are those of std::set") {
  std::mt19937 random(3);
  for (unsigned round = 0; round < 200; ++round) {
    const PlainPages pages = random_pages(random);
    const PageSet set = page_set_of(pages);
    REQUIRE(members_of(set) == pages);
    REQUIRE(set.count() == pages.size());
    REQUIRE(set.empty() == pages.empty());
    PlainPages visited;
    unsigned before = 0;
    set.for_each([&](unsigned p) {
      REQUIRE((visited.empty() || p > before));
      before = p;
      visited.insert(p);
    });
    REQUIRE(visited == pages);
    for (unsigned from = 0; from < kPagesPerTree; ++from) {
      const auto next = pages.lower_bound(from);
      REQUIRE(set.next(from) == (next == pages.end() ? kPagesPerTree : *next));
    }
    for (unsigned leaf = 0; leaf < kLeavesPerTree; ++leaf) {
      const auto first = pages.lower_bound(leaf * 16), last = pages.lower_bound(leaf * 16 + 16);
      REQUIRE(set.in_leaf(leaf) == static_cast<unsigned>(std::distance(first, last)));
      REQUIRE(set.count(leaf * 16, 16) == set.in_leaf(leaf));
    }
    Pairs runs;
    set.for_each_run([&](unsigned first, unsigned count) { runs.emplace_back(first, count); });
    REQUIRE(runs == runs_of(pages));
  }
}

TEST_CASE("set algebra of random sets of pages is that of std::set") {
  std::mt19937 random(4);
  for (unsigned round = 0; round < 200; ++round) {
    const PlainPages a = random_pages(random), b = random_pages(random);
    PlainPages both, either = a, only_a, not_a;
    for (unsigned p = 0; p < kPagesPerTree; ++p) {
      if (a.count(p) && b.count(p)) both.insert(p);
      if (b.count(p)) either.insert(p);
      if (a.count(p) && !b.count(p)) only_a.insert(p);
      if (!a.count(p)) not_a.insert(p);
    }
    const PageSet x = page_set_of(a), y = page_set_of(b);
    REQUIRE(members_of(x & y) == both);
    REQUIRE(members_of(x | y) == either);
    REQUIRE(members_of(x - y) == only_a);
    REQUIRE(members_of(~x) == not_a);
    REQUIRE((x == y) == (a == b));
    PageSet changed = x;
    for (const unsigned p : b) changed.erase(p);
    REQUIRE(changed == x - y);
  }
}

TEST_CASE("every range of pages has its pages, also over the ends of words, and a leaf has its 16") {
  for (unsigned first = 0; first < kPagesPerTree; first += first < 130 ? 1 : 31)
    for (unsigned count = 0; first + count <= kPagesPerTree; count += count < 130 ? 1 : 37) {
      PlainPages pages;
      for (unsigned p = first; p < first + count; ++p) pages.insert(p);
      REQUIRE(members_of(PageSet::range(first, count)) == pages);
    }
  CHECK(PageSet::range(0, 512) == ~PageSet());
  CHECK(PageSet::leaf(31) == PageSet::range(496, 16));
}

TEST_CASE(
    "transfers of a set of faults: UVMSmart cuts behind each fault, the driver where the cause changes") {
  // PlainPages 3 to 7 and 10 to 11, of which 4, 5 and 11 have faulted.
  PageSet list = PageSet::range(3, 5) | PageSet::range(10, 2), faults;
  for (const unsigned p : {4u, 5u, 11u}) faults.insert(p);
  std::vector<Transfer> smart, driver;
  cut(9, list, faults, CutRule::kAfterEachFault, smart);
  cut(9, list, faults, CutRule::kAtCauseChange, driver);
  CHECK(text_of(smart) == "3+2f 5+1f 6+2p 10+2f ");
  CHECK(text_of(driver) == "3+1p 4+2f 6+2p 10+1p 11+1f ");
  for (const Transfer& t : smart) CHECK(t.run.tree == 9);
  CHECK(driver[1].run.bytes() == 8192);
}

TEST_CASE("transfers of random sets move each page once, in order, and never over a gap") {
  std::mt19937 random(5);
  for (unsigned round = 0; round < 100; ++round) {
    const PlainPages pages = random_pages(random);
    PlainPages faults;
    for (const unsigned p : pages)
      if (random() % 3 == 0) faults.insert(p);
    for (const CutRule rule : {CutRule::kAfterEachFault, CutRule::kAtCauseChange}) {
      std::vector<Transfer> transfers;
      cut(1, page_set_of(pages), page_set_of(faults), rule, transfers);
      auto expected = pages.begin();
      for (const Transfer& t : transfers) {
        REQUIRE(t.run.pages > 0);
        REQUIRE(t.faulted == (faults.count(t.run.first + t.run.pages - 1u) > 0));
        for (unsigned p = t.run.first; p < t.run.first + t.run.pages; ++p) {
          REQUIRE(expected != pages.end());
          REQUIRE(*expected++ == p);
          if (rule == CutRule::kAtCauseChange) REQUIRE((faults.count(p) > 0) == t.faulted);
          if (rule == CutRule::kAfterEachFault && p + 1 < t.run.first + t.run.pages)
            REQUIRE(!faults.count(p));
        }
      }
      REQUIRE(expected == pages.end());
    }
  }
}

}  // namespace lockstep::uvm
