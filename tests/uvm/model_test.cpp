// Prefetchers and evictors against second implementations: pages as booleans, recency as one sorted list,
// trees of pages level by level.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "support.hpp"

namespace lockstep::uvm {
namespace {

using Pages = std::vector<bool>;

Pages pages_of(const PageSet& set, unsigned pages) {
  Pages list(pages);
  for (unsigned p = 0; p < pages; ++p) list[p] = set.contains(p);
  return list;
}
unsigned members(const Pages& pages, unsigned first, unsigned count) {
  return static_cast<unsigned>(std::count(pages.begin() + first, pages.begin() + first + count, true));
}
void set_range(Pages& pages, unsigned first, unsigned count, bool value) {
  std::fill_n(pages.begin() + first, count, value);
}

unsigned below(std::mt19937& random, unsigned n) { return static_cast<unsigned>(random() % n); }

PageSet random_set(std::mt19937& random, unsigned pages, unsigned percent) {
  PageSet set;
  for (unsigned p = 0; p < pages; ++p)
    if (below(random, 100) < percent) set.insert(p);
  return set;
}
PageSet random_leaves(std::mt19937& random, unsigned pages, unsigned percent) {
  PageSet set;
  for (unsigned leaf = 0; leaf < pages / kPagesPerLeaf; ++leaf)
    if (below(random, 100) < percent) set |= PageSet::leaf(leaf);
  return set;
}

// --- Prefetchers ---

/// What a policy fetches, by its description.
Pages fetched(const std::string& policy, const Pages& counted, const Pages& here, const Pages& faults,
              unsigned threshold) {
  const auto size = static_cast<unsigned>(faults.size());
  Pages list(size);
  for (unsigned p = 0; p < size; ++p) {
    if (!faults[p]) continue;
    if (policy == "locality") set_range(list, p, std::min(128u, size - p), true);
    if (policy != "locality") set_range(list, p / 16 * 16, 16, true);
  }
  if (policy == "tbn") {
    Pages full = counted;
    for (unsigned p = 0; p < size; ++p) full[p] = full[p] || list[p];
    for (unsigned node = 32; node <= size; node *= 2)
      for (unsigned first = 0; first < size; first += node) {
        if (2 * members(full, first, node) <= node) continue;
        for (unsigned leaf = first; leaf < first + node; leaf += 16)
          if (members(full, leaf, 16) == 0) set_range(full, leaf, 16, true), set_range(list, leaf, 16, true);
      }
  }
  if (policy == "driver") {
    Pages wanted = list, regions = list;
    for (unsigned p = 0; p < size; ++p) wanted[p] = wanted[p] || here[p];
    for (unsigned p = 0; p < size; ++p)
      for (unsigned node = 16; faults[p] && node <= size; node *= 2)
        if (100 * members(wanted, p / node * node, node) > threshold * node)
          set_range(regions, p / node * node, node, true);
    list = regions;
  }
  return list;
}

TEST_CASE("prefetchers fetch what their descriptions say, for random trees and sets of faults") {
  std::mt19937 random(1);
  for (int round = 0; round < 1500; ++round) {
    const unsigned size = 16u << below(random, 6), threshold = 1 + below(random, 100);
    const auto policy =
        std::array{"sequential", "locality", "tbn", "driver"}[static_cast<std::size_t>(round % 4)];
    OneTree t(size);
    t.it().resident = round % 8 < 4 ? random_leaves(random, size, below(random, 100))
                                    : random_set(random, size, below(random, 100));
    t.it().incoming = random_leaves(random, size, 10) - t.it().resident;
    t.it().counted = t.it().resident | t.it().incoming;
    PageSet faults = random_set(random, size, 1 + below(random, 5)) - t.it().counted;
    if (faults.empty()) continue;
    const Pages expected = fetched(policy, pages_of(t.it().counted, size), pages_of(t.it().counted, size),
                                   pages_of(faults, size), threshold);
    PrefetchContext context{t.random, threshold};
    std::vector<PageSet> lists;
    by_name(prefetchers(), policy).choose(t.it(), faults, context, lists);
    PageSet found;
    for (const PageSet& list : lists) found |= list;
    INFO(policy << " of " << size << " pages, round " << round);
    // The driver's regions begin above the leaf, which is fetched in any case.
    REQUIRE(pages_of(found, size) == expected);
  }
}

TEST_CASE("transfers hold each page of a list once, in order, without gaps, and one cause each") {
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    const PageSet list = random_set(random, 512, below(random, 100));
    const PageSet faults = random_set(random, 512, below(random, 60)) & list;
    const CutRule rule = round % 2 ? CutRule::kAtCauseChange : CutRule::kAfterEachFault;
    std::vector<Transfer> transfers;
    cut(3, list, faults, rule, transfers);
    PageSet moved;
    unsigned end = 0, faulted = 0;
    for (const Transfer& t : transfers) {
      REQUIRE(t.run.tree == 3);
      REQUIRE(t.run.pages > 0);
      REQUIRE(t.run.first >= end);
      end = t.run.first + t.run.pages;
      REQUIRE((t.run.set() & moved).empty());
      moved |= t.run.set();
      const unsigned own = faults.count(t.run.first, t.run.pages);
      REQUIRE(t.faulted == faults.contains(end - 1));
      if (rule == CutRule::kAfterEachFault) REQUIRE(own == (t.faulted ? 1u : 0u));
      if (rule == CutRule::kAtCauseChange) REQUIRE(own == (t.faulted ? t.run.pages : 0u));
      faulted += own;
    }
    REQUIRE(moved == list);
    REQUIRE(faulted == faults.count());
  }
}

// --- Evictors ---

struct Unit {
  TreeIndex tree;
  unsigned first, pages;
  bool operator<(const Unit& o) const { return std::tie(tree, first) < std::tie(o.tree, o.first); }
};

/// Units by the time of their last touch, without any order of their own.
class Recency {
 public:
  explicit Recency(unsigned unit) : unit_(unit) {}

  void touch(TreeIndex tree, const PageSet& pages) {
    for (unsigned first = 0; first < kPagesPerTree; first += unit_)
      if (pages.count(first, unit_) > 0) time_[{tree, first, unit_}] = ++clock_;
  }
  void left(TreeIndex tree, const PageSet& remaining) {
    std::erase_if(time_, [&](const auto& entry) {
      return entry.first.tree == tree && remaining.count(entry.first.first, unit_) == 0;
    });
  }
  /// Leaves stand with their tree, whose time is that of its newest one.
  [[nodiscard]] std::vector<Unit> oldest_first() const {
    std::map<TreeIndex, std::uint64_t> newest;
    for (const auto& [unit, time] : time_) newest[unit.tree] = std::max(newest[unit.tree], time);
    std::vector<std::tuple<std::uint64_t, std::uint64_t, Unit>> sorted;
    for (const auto& [unit, time] : time_)
      sorted.emplace_back(unit_ == kPagesPerLeaf ? newest.at(unit.tree) : 0, time, unit);
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    std::vector<Unit> units;
    for (const auto& entry : sorted) units.push_back(std::get<2>(entry));
    return units;
  }

 private:
  unsigned unit_;
  std::uint64_t clock_ = 0;
  std::map<Unit, std::uint64_t> time_;
};

PageSet may_leave(const Tree& tree, unsigned first, unsigned pages, const EvictionRules& rules) {
  const unsigned end = std::min(first + pages, tree.pages);
  PageSet here;
  for (unsigned p = first; p < end; ++p)
    if (tree.resident.contains(p) && !tree.leaving.contains(p)) here.insert(p);
  return rules.whole_units && here.count() < end - first ? PageSet() : here;
}

/// From the victim leaf upwards: a node that is not empty and less than half full loses what may leave.
PageSet neighbourhood(const Tree& tree, PageSet victims, const EvictionRules& rules) {
  Pages counted = pages_of(tree.counted - victims, tree.pages);
  for (unsigned node = 32; node <= tree.pages; node *= 2)
    for (unsigned first = 0; first < tree.pages; first += node) {
      const unsigned valid = members(counted, first, node);
      if (valid == 0 || 2 * valid >= node) continue;
      for (unsigned leaf = first; leaf < first + node; leaf += 16) {
        const PageSet pages = may_leave(tree, leaf, 16, rules);
        victims |= pages;
        pages.for_each([&](unsigned p) { counted[p] = false; });
      }
    }
  return victims;
}

/// Which pages of which tree leave, by the descriptions of the policies.
std::pair<TreeIndex, PageSet> victim(const std::string& policy, const Recency& recency,
                                     const PageTable& table, EvictionRules rules, Random& random) {
  std::vector<Unit> units = recency.oldest_first();
  std::size_t at = units.size() * rules.reserve_percent / 100;
  if (policy == "lfu_2m")
    std::stable_sort(units.begin(), units.end(), [&](const Unit& a, const Unit& b) {
      return std::tie(table[a.tree].accesses, table[a.tree].written) <
             std::tie(table[b.tree].accesses, table[b.tree].written);
    });
  if (policy == "driver") rules.whole_units = false;
  if (policy == "random") {
    const std::size_t free = units.size() * (100 - rules.reserve_percent) / 100;
    if (free == 0) return {0, {}};
    at += random.next() % free;
  }
  for (; at < units.size(); ++at) {
    const Tree& tree = table[units[at].tree];
    PageSet pages = may_leave(tree, units[at].first, units[at].pages, rules);
    if (pages.empty()) continue;
    return {units[at].tree, policy == "tbn" ? neighbourhood(tree, pages, rules) : pages};
  }
  return {0, {}};
}

/// Trees of different sizes, of which pages come, are accessed, are chosen to leave, and leave.
class Memory {
 public:
  Memory(const EvictionPolicy& policy, std::uint32_t seed)
      : random_(seed), policy_(policy), list_(policy.unit, policy.follows_accesses), recency_(unit_pages()) {
    for (TreeIndex t = 0; t < 5; ++t)
      space_.add(Address{t} * 4 * kTreeBytes, (std::uint64_t{16} << (t + below(random_, 2))) * kPageBytes);
    for (TreeIndex t = 0; t < 5; ++t) trees_.push_back(table_.touch(t));
    rules_.reserve_percent = below(random_, 3) ? 0 : below(random_, 60);
    rules_.whole_units = below(random_, 2) != 0;
  }

  void step() {
    Tree& tree = table_[trees_[below(random_, static_cast<unsigned>(trees_.size()))]];
    const TreeIndex index = *table_.find(tree.id);
    switch (below(random_, 4)) {
      case 0:
        return arrive(tree, index);
      case 1:
        return access(tree, index);
      case 2:
        return decide();
      default:
        tree.resident -= tree.leaving;
        tree.leaving = {};
    }
  }

 private:
  [[nodiscard]] unsigned unit_pages() const {
    return policy_.unit == EvictUnit::kPage   ? 1
           : policy_.unit == EvictUnit::kLeaf ? kPagesPerLeaf
                                              : kPagesPerTree;
  }

  void arrive(Tree& tree, TreeIndex index) {
    const PageSet pages =
        (below(random_, 2) ? random_leaves(random_, tree.pages, 40) : random_set(random_, tree.pages, 5)) -
        tree.resident;
    tree.resident |= pages;
    tree.counted |= pages;
    list_.arrived(index, pages);
    recency_.touch(index, pages);
  }
  void access(Tree& tree, TreeIndex index) {
    const unsigned page = (tree.resident - tree.leaving).next(below(random_, tree.pages));
    if (page == kPagesPerTree) return;
    ++tree.accesses;
    tree.written = tree.written || below(random_, 4) == 0;
    list_.accessed(index, page);
    if (policy_.follows_accesses) recency_.touch(index, PageSet::range(page, 1));
  }
  void decide() {
    const auto [tree, pages] = victim(std::string(policy_.name), recency_, table_, rules_, expected_numbers_);
    std::vector<Run> runs;
    const bool any = evict(policy_, list_, table_, rules_, numbers_, runs);
    REQUIRE(any == !pages.empty());
    PageSet found;
    for (const Run& run : runs) {
      REQUIRE(run.tree == tree);
      found |= run.set();
    }
    REQUIRE(found == pages);
    if (any) recency_.left(tree, table_[tree].resident - table_[tree].leaving);
    REQUIRE(list_.size() == recency_.oldest_first().size());
  }

  std::mt19937 random_;
  const EvictionPolicy& policy_;
  AddressSpace space_;
  PageTable table_{space_};
  std::vector<TreeIndex> trees_;
  EvictionList list_;
  Recency recency_;
  EvictionRules rules_;
  Random numbers_, expected_numbers_;
};

TEST_CASE("evictors choose what their descriptions say, whatever came, was accessed and has left") {
  for (const EvictionPolicy* policy : evictors()) {
    for (std::uint32_t seed = 1; seed <= 60; ++seed) {
      INFO(policy->name << ", seed " << seed);
      Memory memory(*policy, seed);
      for (int step = 0; step < 80; ++step) memory.step();
    }
  }
}

TEST_CASE("sets of pages are sets: every operation against booleans") {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    const PageSet a = random_set(random, 512, below(random, 101)),
                  b = random_set(random, 512, below(random, 101));
    const Pages x = pages_of(a, 512), y = pages_of(b, 512);
    const unsigned first = below(random, 512), count = below(random, 513 - first);
    Pages both(512), either(512), without(512), not_a(512), range(512);
    for (unsigned p = 0; p < 512; ++p) {
      both[p] = x[p] && y[p], either[p] = x[p] || y[p], without[p] = x[p] && !y[p], not_a[p] = !x[p];
      range[p] = p >= first && p < first + count;
    }
    REQUIRE(pages_of(a & b, 512) == both);
    REQUIRE(pages_of(a | b, 512) == either);
    REQUIRE(pages_of(a - b, 512) == without);
    REQUIRE(pages_of(~a, 512) == not_a);
    REQUIRE(pages_of(PageSet::range(first, count), 512) == range);
    REQUIRE(a.count() == members(x, 0, 512));
    REQUIRE(a.count(first, count) == members(x, first, count));
    REQUIRE(a.empty() == (members(x, 0, 512) == 0));
    const auto next = std::find(x.begin() + first, x.end(), true) - x.begin();
    REQUIRE(a.next(first) == static_cast<unsigned>(next));
    unsigned runs = 0, begins = 0;
    a.for_each_run([&](unsigned begin, unsigned length) {
      ++runs;
      REQUIRE(members(x, begin, length) == length);
      REQUIRE((begin == 0 || !x[begin - 1]));
      REQUIRE((begin + length == 512 || !x[begin + length]));
    });
    for (unsigned p = 0; p < 512; ++p) begins += x[p] && (p == 0 || !x[p - 1]);
    REQUIRE(runs == begins);
  }
}

}  // namespace
}  // namespace lockstep::uvm
