// Evictors against published traces, the text of the policies and a list kept by hand.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <list>
#include <map>
#include <random>
#include <tuple>

#include "support.hpp"

namespace lockstep::uvm {
namespace {

struct Device : OneTree {
  Device(const EvictionPolicy& p, unsigned pages, EvictionRules r = {})
      : OneTree(pages), policy(p), list(p.unit, p.follows_accesses), rules(r) {}

  void load(const PageSet& pages) {
    it().resident |= pages;
    it().counted |= pages;
    list.arrived(tree, pages);
  }
  /// One decision; the write-backs end at once.
  Pieces decide() {
    std::vector<Run> runs;
    (void)evict(policy, list, table, rules, random, runs);
    Pieces result;
    for (const Run& r : runs) {
      result.emplace_back(r.first, r.pages * 4);
      table[r.tree].resident -= r.set();
      table[r.tree].leaving -= r.set();
    }
    return result;
  }

  const EvictionPolicy& policy;
  EvictionList list;
  EvictionRules rules;
};

TEST_CASE("tree eviction writes back what the published trace shows") {
  const nlohmann::json cases = golden().at("evict");
  REQUIRE(cases.size() == 3);
  for (const auto& one : cases) {
    Device d(kTreeEvict, one.at("pages"));
    d.load(d.it().all());
    for (const unsigned leaf : one.at("order")) d.list.accessed(d.tree, leaf * kPagesPerLeaf);
    // Leaves that the order does not name were touched after it.
    for (unsigned leaf = 0; leaf < d.it().leaves() && !one.at("order").empty(); ++leaf) {
      const auto& order = one.at("order");
      if (std::find(order.begin(), order.end(), leaf) == order.end())
        d.list.accessed(d.tree, leaf * kPagesPerLeaf);
    }
    for (const auto& step : one.at("steps")) {
      INFO(one.at("name") << " victim " << step.at("victim"));
      Pieces expected = pieces(step.at("write_backs"));
      for (auto& piece : expected) piece.first *= kPagesPerLeaf;
      CHECK(d.decide() == expected);
    }
    CHECK(d.it().resident.empty());
    CHECK(d.list.size() == 0);
  }
}

TEST_CASE("least recently used pages leave first, and an access makes a page young") {
  Device d(kLruPage, 16);
  for (const unsigned page : {0u, 1u, 2u, 3u}) d.load(PageSet::range(page, 1));
  d.list.accessed(d.tree, 0);
  CHECK(d.decide() == Pieces{{1, 4}});
  CHECK(d.decide() == Pieces{{2, 4}});
  CHECK(d.decide() == Pieces{{3, 4}});
  CHECK(d.decide() == Pieces{{0, 4}});
  CHECK(d.decide().empty());
}

TEST_CASE("of the least recently used 2 MB the oldest 64 KB leaves") {
  AddressSpace space;
  space.add(0, 2 * kTreeBytes);
  PageTable table(space);
  const TreeIndex a = table.touch(0), b = table.touch(1);
  EvictionList list(EvictUnit::kLeaf, true);
  Random random;
  const auto load = [&](TreeIndex t, unsigned leaf) {
    table[t].resident |= PageSet::leaf(leaf);
    list.arrived(t, PageSet::leaf(leaf));
  };
  load(a, 3), load(a, 1), load(b, 0), load(b, 7), load(a, 2);  // a is newer than b now
  list.accessed(a, 3 * kPagesPerLeaf);
  std::vector<Run> runs;
  for (int i = 0; i < 5; ++i) REQUIRE(evict(kSequentialLeaf, list, table, {}, random, runs));
  CHECK(runs == std::vector<Run>{{b, 0, 16}, {b, 112, 16}, {a, 16, 16}, {a, 32, 16}, {a, 48, 16}});
}

TEST_CASE("a whole 2 MB leaves as one write-back; a part only where that is allowed") {
  Device whole(kLruTree, 512);
  whole.load(whole.it().all());
  CHECK(whole.decide() == Pieces{{0, 2048}});

  Device partly(kLruTree, 512);
  partly.load(PageSet::range(0, 300));
  CHECK(partly.decide().empty());  // UVMSmart waits for ever
  partly.rules.whole_units = false;
  CHECK(partly.decide() == Pieces{{0, 1200}});

  Device driver(kDriverChunk, 512);
  driver.load(PageSet::range(0, 10));
  driver.load(PageSet::range(20, 10));
  CHECK(driver.decide() == Pieces{{0, 40}, {20, 40}});
}

TEST_CASE("the driver's chunks leave by the time of filling, UVMSmart's by the time of use") {
  for (const EvictionPolicy* policy : {&kDriverChunk, &kLruTree}) {
    AddressSpace space;
    space.add(0, 2 * kTreeBytes);
    PageTable table(space);
    EvictionList list(policy->unit, policy->follows_accesses);
    Random random;
    for (const TreeIndex t : {table.touch(0), table.touch(1)}) {
      table[t].resident = table[t].all();
      list.arrived(t, table[t].all());
    }
    list.accessed(0, 5);
    std::vector<Run> runs;
    REQUIRE(evict(*policy, list, table, {}, random, runs));
    CHECK(runs[0].tree == (policy == &kDriverChunk ? 0u : 1u));
  }
}

TEST_CASE("least frequently used: by accesses, then read-only ones, then by age") {
  AddressSpace space;
  space.add(0, 4 * kTreeBytes);
  PageTable table(space);
  EvictionList list(EvictUnit::kTree, true);
  Random random;
  const std::uint32_t accesses[] = {9, 4, 4, 4};
  for (TreeIndex t = 0; t < 4; ++t) {
    Tree& tree = table[table.touch(t)];
    tree.resident = tree.all();
    tree.accesses = accesses[t];
    tree.written = t == 1;
    list.arrived(t, tree.all());
  }
  std::vector<Run> runs;
  for (int i = 0; i < 4; ++i) REQUIRE(evict(kLfuTree, list, table, {}, random, runs));
  CHECK(std::vector<TreeIndex>{runs[0].tree, runs[1].tree, runs[2].tree, runs[3].tree} ==
        std::vector<TreeIndex>{2, 3, 1, 0});
}

TEST_CASE("a reservation protects the oldest entries") {
  Device d(kLruPage, 32, {10, true});
  d.load(PageSet::range(0, 20));
  CHECK(d.decide() == Pieces{{2, 4}});  // 10 % of 20 entries
  Device all(kLruPage, 32, {100, true});
  all.load(PageSet::range(0, 20));
  CHECK(all.decide().empty());
}

TEST_CASE("random eviction starts at rand() modulo the entries that are not reserved") {
  Device d(kRandomPage, 64, {25, true});
  d.load(PageSet::range(0, 40));
  CHECK(d.decide() == Pieces{{10 + 1804289383 % 30, 4}});
  // 39 entries: 9 reserved, 29 free, and those above the one that left are one place lower.
  const unsigned position = 9 + 846930886 % 29, gone = 10 + 1804289383 % 30;
  CHECK(d.decide() == Pieces{{position < gone ? position : position + 1, 4}});
}

TEST_CASE("the trigger of an eviction") {
  CHECK(eviction_due(0, 1000, 0, 1, 0));
  CHECK_FALSE(eviction_due(0, 1000, 100, 0, 10));
  CHECK(eviction_due(0, 1000, 100, 1, 10));
  CHECK_FALSE(eviction_due(1, 1000, 0, 1, 0));
}

TEST_CASE("after a decision of tree eviction no node is less than half full and not empty") {
  std::mt19937 random(3);
  for (const unsigned pages : {32u, 128u, 512u})
    for (int round = 0; round < 20; ++round) {
      Device d(kTreeEvict, pages);
      d.load(d.it().all());
      while (!d.it().resident.empty()) {
        for (int i = 0; i < 5; ++i)
          if (const auto p = static_cast<unsigned>(random() % pages); d.it().resident.contains(p))
            d.list.accessed(d.tree, p);
        REQUIRE_FALSE(d.decide().empty());
        CHECK(d.it().counted == d.it().resident);
        for_each_node(d.it(),
                      [](unsigned size, unsigned counted) { CHECK((counted == 0 || counted * 2 >= size)); });
      }
    }
}

TEST_CASE("leaves stand by their tree's newest one that is there, then by their own time") {
  std::mt19937 random(7);
  EvictionList list(EvictUnit::kLeaf, true);
  constexpr TreeIndex kTrees = 6;
  std::map<std::pair<TreeIndex, unsigned>, int> time;  // of each leaf in the list
  std::array<PageSet, kTrees> there;
  for (int i = 1; i < 4000; ++i) {
    const auto tree = static_cast<TreeIndex>(random() % kTrees);
    if (random() % 3) {
      const auto leaf = static_cast<unsigned>(random() % kLeavesPerTree);
      list.accessed(tree, leaf * kPagesPerLeaf + 3);
      there[tree] |= PageSet::leaf(leaf);
      time[{tree, leaf}] = i;
    } else {  // a neighbourhood leaves, young leaves too
      const auto first = static_cast<unsigned>(random() % kLeavesPerTree),
                 count = static_cast<unsigned>(1 + random() % 8);
      for (unsigned leaf = first; leaf < std::min<unsigned>(first + count, kLeavesPerTree); ++leaf) {
        there[tree] -= PageSet::leaf(leaf);
        time.erase({tree, leaf});
      }
      list.left(tree, there[tree]);
    }
    std::array<int, kTrees> newest{};
    for (const auto& [leaf, at] : time) newest[leaf.first] = std::max(newest[leaf.first], at);
    std::vector<std::tuple<int, int, TreeIndex, unsigned>> expected;
    for (const auto& [leaf, at] : time)
      expected.emplace_back(newest[leaf.first], at, leaf.first, leaf.second);
    std::sort(expected.begin(), expected.end());
    std::size_t seen = 0;
    (void)list.walk(0, [&](TreeIndex t, const PageSet& unit) {
      REQUIRE(seen < expected.size());
      CHECK(t == std::get<2>(expected[seen]));
      CHECK(unit == PageSet::leaf(std::get<3>(expected[seen])));
      return ++seen == expected.size();
    });
    REQUIRE(seen == expected.size());
  }
}

TEST_CASE("the order of touches is that of a list kept by hand") {
  std::mt19937 random(11);
  TouchOrder order;
  std::list<std::pair<std::uint32_t, std::uint32_t>> reference;
  const auto drop = [&](std::uint32_t id) {
    reference.remove_if([&](const auto& e) { return e.first == id; });
  };
  for (int i = 0; i < 20000; ++i) {
    const auto id = static_cast<std::uint32_t>(random() % 200),
               weight = static_cast<std::uint32_t>(1 + random() % 3);
    if (random() % 4 == 0) {
      order.set_weight(id, 0);
      drop(id);
    } else {
      order.touch(id, weight);
      drop(id);
      reference.emplace_back(id, weight);
    }
    if (i % 50) continue;
    std::vector<std::uint32_t> expected, seen;
    for (const auto& [e, w] : reference)
      for (std::uint32_t k = 0; k < w; ++k) expected.push_back(e);
    REQUIRE(order.total() == expected.size());
    for (std::uint64_t k = 0; k < expected.size(); ++k)
      (void)order.walk(k, [&](std::uint32_t found, std::uint64_t) {
        seen.push_back(found);
        return true;
      });
    REQUIRE(seen == expected);
  }
}

}  // namespace
}  // namespace lockstep::uvm
