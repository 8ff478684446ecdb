#include "uvm/prefetcher.hpp"

namespace lockstep::uvm {

/// UVMSmart's on-demand migration: each faulting page by itself.
constinit const PrefetchPolicy kNoPrefetch{
    "none", "only the faulting page",
    [](const Tree&, const PageSet& faults, PrefetchContext&, std::vector<PageSet>& lists) {
      faults.for_each([&](unsigned page) { lists.push_back(PageSet::range(page, 1)); });
    }};

}  // namespace lockstep::uvm
