#include "uvm/prefetcher.hpp"

namespace lockstep::uvm {
namespace {

/// Post-order over the leaves [first, first + leaves): a node that is more than half full, but not full, gets
/// its empty leaves. Returns the pages counted below the node afterwards.
unsigned fill(PageSet& counted, PageSet& list, unsigned first, unsigned leaves) {
  if (leaves == 1) return counted.in_leaf(first);
  unsigned valid =
      fill(counted, list, first, leaves / 2) + fill(counted, list, first + leaves / 2, leaves / 2);
  const unsigned size = leaves * kPagesPerLeaf;
  if (valid == size || valid <= size / 2) return valid;
  for (unsigned leaf = first; leaf < first + leaves; ++leaf) {
    if (counted.in_leaf(leaf) != 0) continue;
    counted |= PageSet::leaf(leaf);
    list |= PageSet::leaf(leaf);
    valid += kPagesPerLeaf;
  }
  return valid;
}

}  // namespace

/// UVMSmart's tree-based neighbourhood prefetcher: the leaf of each faulting page, then the whole tree from
/// below, so that filling one node may tip the next.
constinit const PrefetchPolicy kTreePrefetch{
    "tbn", "tree-based neighbourhood (UVMSmart)",
    [](const Tree& tree, const PageSet& faults, PrefetchContext&, std::vector<PageSet>& lists) {
      PageSet list;
      faults.for_each([&](unsigned page) { list |= PageSet::leaf(page / kPagesPerLeaf); });
      PageSet counted = tree.counted | list;
      (void)fill(counted, list, 0, tree.leaves());
      lists.push_back(list);
    }};

}  // namespace lockstep::uvm
