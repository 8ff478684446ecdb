#include "uvm/prefetcher.hpp"

namespace lockstep::uvm {

/// The page behind each one that faults comes along, in the same list of transfers.
extern const PrefetchPolicy kNextPagePrefetch;
constinit const PrefetchPolicy kNextPagePrefetch{
    "next_page", "the page behind each faulting page",
    [](const Tree& tree, const PageSet& faults, PrefetchContext&, std::vector<PageSet>& lists) {
      PageSet list = faults;
      faults.for_each([&](unsigned page) {
        if (page + 1 < tree.pages) list.insert(page + 1);
      });
      lists.push_back(list);
    }};

}  // namespace lockstep::uvm
