#include "uvm/evictor.hpp"

#include <algorithm>
#include <utility>

#include "uvm/registry.hpp"

namespace lockstep::uvm {
namespace {

/// Every policy, one line each.
constexpr const EvictionPolicy* kEvictors[] = {
    &kLruPage, &kRandomPage, &kSequentialLeaf, &kTreeEvict, &kLruTree, &kLfuTree, &kDriverChunk,
};

Registry<EvictionPolicy>& evictor_registry() {
  static Registry<EvictionPolicy> all(kEvictors);
  return all;
}

}  // namespace

std::span<const EvictionPolicy* const> evictors() { return evictor_registry().policies(); }
std::span<const std::string_view> evictor_names() { return evictor_registry().names(); }
void add_evictor(const EvictionPolicy& policy) { evictor_registry().add(policy); }

void EvictionList::touch_leaf(TreeIndex tree, unsigned leaf) {
  if (tree >= leaf_times_.size()) leaf_times_.resize(tree + 1);
  LeafTimes& times = leaf_times_[tree];
  if (times.time[leaf] == 0) ++times.count;
  times.time[leaf] = times.newest = ++clock_;
}

void EvictionList::arrived(TreeIndex tree, const PageSet& pages) {
  if (pages.empty()) return;
  switch (unit_) {
    case EvictUnit::kPage:
      return pages.for_each([&](unsigned page) { order_.touch(tree * kPagesPerTree + page, 1); });
    case EvictUnit::kTree:
      return order_.touch(tree, 1);
    case EvictUnit::kLeaf:
      for (unsigned leaf = 0; leaf < kLeavesPerTree; ++leaf)
        if (pages.in_leaf(leaf)) touch_leaf(tree, leaf);
      order_.touch(tree, leaf_times_[tree].count);
  }
}

void EvictionList::accessed(TreeIndex tree, unsigned page) {
  if (follows_accesses_) arrived(tree, PageSet::range(page, 1));
}

void EvictionList::left(TreeIndex tree, const PageSet& remaining) {
  switch (unit_) {
    case EvictUnit::kPage:
      return (~remaining).for_each([&](unsigned page) { order_.set_weight(tree * kPagesPerTree + page, 0); });
    case EvictUnit::kTree:
      if (remaining.empty()) order_.set_weight(tree, 0);
      return;
    case EvictUnit::kLeaf:
      if (tree >= leaf_times_.size()) return;
      LeafTimes& times = leaf_times_[tree];
      for (unsigned leaf = 0; leaf < kLeavesPerTree; ++leaf) {
        if (times.time[leaf] == 0 || remaining.in_leaf(leaf)) continue;
        times.time[leaf] = 0;
        --times.count;
      }
      order_.set_weight(tree, times.count);
      const std::uint64_t newest = *std::max_element(times.time.begin(), times.time.end());
      if (std::exchange(times.newest, newest) == newest) return;
      // Eviction by neighbourhood takes young leaves too: what is left may be older than other trees.
      order_.reposition(tree, [&](TreeIndex other) { return leaf_times_[other].newest > newest; });
  }
}

unsigned EvictionList::leaves_by_time(TreeIndex tree,
                                      std::array<std::uint8_t, kLeavesPerTree>& leaves) const {
  const LeafTimes& times = leaf_times_[tree];
  unsigned count = 0;
  for (unsigned leaf = 0; leaf < kLeavesPerTree; ++leaf)
    if (times.time[leaf]) leaves[count++] = static_cast<std::uint8_t>(leaf);
  std::sort(leaves.begin(), leaves.begin() + count,
            [&](unsigned a, unsigned b) { return times.time[a] < times.time[b]; });
  return count;
}

PageSet evictable(const Tree& tree, const PageSet& unit, const EvictionRules& rules) {
  const PageSet pages = unit & tree.all(), here = (tree.resident - tree.leaving) & pages;
  return rules.whole_units && here != pages ? PageSet() : here;
}

std::optional<Victim> first_evictable(const EvictionList& list, const PageTable& table,
                                      const EvictionRules& rules, std::uint64_t position) {
  std::optional<Victim> victim;
  (void)list.walk(position, [&](TreeIndex tree, const PageSet& unit) {
    const PageSet pages = evictable(table[tree], unit, rules);
    if (pages.empty()) return false;
    victim = {tree, pages};
    return true;
  });
  return victim;
}

bool evict(const EvictionPolicy& policy, EvictionList& list, PageTable& table, const EvictionRules& rules,
           Random& random, std::vector<Run>& write_backs) {
  const std::optional<Victim> victim = policy.choose(list, table, rules, random);
  if (!victim) return false;
  Tree& tree = table[victim->tree];
  tree.counted -= victim->pages;
  tree.leaving |= victim->pages;
  list.left(victim->tree, tree.resident - tree.leaving);
  victim->pages.for_each_run([&](unsigned first, unsigned pages) {
    write_backs.push_back(
        {victim->tree, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(pages)});
  });
  return true;
}

}  // namespace lockstep::uvm
