#include "uvm/prefetcher.hpp"

namespace lockstep::uvm {

/// UVMSmart: the 64 KiB leaf of each faulting page, one list for the tree.
constinit const PrefetchPolicy kSequentialPrefetch{
    "sequential", "the 64 KiB around each faulting page",
    [](const Tree&, const PageSet& faults, PrefetchContext&, std::vector<PageSet>& lists) {
      PageSet list;
      faults.for_each([&](unsigned page) { list |= PageSet::leaf(page / kPagesPerLeaf); });
      lists.push_back(list);
    }};

}  // namespace lockstep::uvm
