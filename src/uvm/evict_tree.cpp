#include "uvm/evictor.hpp"

namespace lockstep::uvm {
namespace {

struct Decision {
  const Tree& tree;
  const EvictionRules& rules;
  PageSet counted, victims;
};

void take(Decision& d, unsigned leaf) {
  const PageSet pages = evictable(d.tree, PageSet::leaf(leaf), d.rules);
  d.victims |= pages;
  d.counted -= pages;
}

/// Post-order over the leaves [first, first + leaves): a node that is less than half full, but not empty,
/// loses its leaves. Returns the pages counted below the node afterwards.
unsigned empty(Decision& d, unsigned first, unsigned leaves) {
  if (leaves == 1) return d.counted.in_leaf(first);
  const unsigned valid = empty(d, first, leaves / 2) + empty(d, first + leaves / 2, leaves / 2);
  const unsigned size = leaves * kPagesPerLeaf;
  if (valid == 0 || valid >= size / 2) return valid;
  for (unsigned leaf = first; leaf < first + leaves; ++leaf) take(d, leaf);
  return d.counted.count(first * kPagesPerLeaf, size);
}

}  // namespace

/// UVMSmart's tree-based neighbourhood eviction: the leaf that `sequential` would take, then the whole tree
/// from below; the mirror of the prefetcher `tbn`.
constinit const EvictionPolicy kTreeEvict{
    "tbn", "tree-based neighbourhood (UVMSmart)", EvictUnit::kLeaf, true,
    [](const EvictionList& list, const PageTable& table, const EvictionRules& rules, Random&) {
      std::optional<Victim> victim = first_evictable(list, table, rules, list.reserved(rules));
      if (!victim) return victim;
      const Tree& tree = table[victim->tree];
      Decision decision{tree, rules, tree.counted - victim->pages, victim->pages};
      (void)empty(decision, 0, tree.leaves());
      victim->pages = decision.victims;
      return victim;
    }};

}  // namespace lockstep::uvm
