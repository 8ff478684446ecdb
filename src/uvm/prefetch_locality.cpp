#include <algorithm>

#include "uvm/prefetcher.hpp"

namespace lockstep::uvm {
namespace {

constexpr unsigned kPages = 128;  // 512 KiB

}  // namespace

/// Zheng et al., "Towards high performance paged memory for GPUs", HPCA 2016: 128 consecutive pages from the
/// faulting one. They end with the tree, because no transfer crosses 2 MiB.
constinit const PrefetchPolicy kLocalityPrefetch{
    "locality", "512 KiB from each faulting page (Zheng et al., HPCA 2016)",
    [](const Tree& tree, const PageSet& faults, PrefetchContext&, std::vector<PageSet>& lists) {
      PageSet list;
      faults.for_each(
          [&](unsigned page) { list |= PageSet::range(page, std::min(kPages, tree.pages - page)); });
      lists.push_back(list);
    }};

}  // namespace lockstep::uvm
