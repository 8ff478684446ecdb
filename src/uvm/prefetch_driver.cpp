#include "uvm/prefetcher.hpp"

namespace lockstep::uvm {

/// The driver's rule (open-gpu-kernel-modules, uvm_perf_prefetch.c): each faulting 64 KiB is filled;
/// then from each faulting page upwards, the largest subtree of which more than the threshold is resident or
/// wanted. No cascade, only ancestors of faulting pages.
constinit const PrefetchPolicy kDriverPrefetch{
    "driver", "largest subtree above the driver's threshold (uvm.prefetch_threshold)",
    [](const Tree& tree, const PageSet& faults, PrefetchContext& context, std::vector<PageSet>& lists) {
      PageSet list;
      faults.for_each([&](unsigned page) { list |= PageSet::leaf(page / kPagesPerLeaf); });
      const PageSet wanted = tree.resident | tree.incoming | list;
      PageSet regions;
      faults.for_each([&](unsigned page) {
        for (unsigned size = tree.pages; size > kPagesPerLeaf; size /= 2) {
          const unsigned first = page / size * size;
          if (wanted.count(first, size) * 100 <= size * context.threshold_percent) continue;
          regions |= PageSet::range(first, size);
          break;
        }
      });
      lists.push_back(list | regions);
    }};

}  // namespace lockstep::uvm
