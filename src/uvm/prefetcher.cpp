#include "uvm/prefetcher.hpp"

#include <numeric>

#include "uvm/registry.hpp"

namespace lockstep::uvm {
namespace {

/// Every policy, one line each.
constexpr const PrefetchPolicy* kPrefetchers[] = {
    &kNoPrefetch,       &kRandomPrefetch, &kSequentialPrefetch,
    &kLocalityPrefetch, &kTreePrefetch,   &kDriverPrefetch,
};

Registry<PrefetchPolicy>& prefetcher_registry() {
  static Registry<PrefetchPolicy> all(kPrefetchers);
  return all;
}

}  // namespace

std::span<const PrefetchPolicy* const> prefetchers() { return prefetcher_registry().policies(); }
std::span<const std::string_view> prefetcher_names() { return prefetcher_registry().names(); }
void add_prefetcher(const PrefetchPolicy& policy) { prefetcher_registry().add(policy); }

void stage_faults(const PrefetchPolicy& policy, PageTable& table, TreeIndex index, const PageSet& faults,
                  CutRule rule, PrefetchContext& context, std::vector<Transfer>& transfers) {
  std::vector<PageSet> lists;
  policy.choose(table[index], faults, context, lists);
  if (!context.along.empty()) lists.push_back(context.along);
  Tree& tree = table[index];
  if (rule == CutRule::kAtCauseChange)  // the driver copies all of a block at once
    lists = {std::accumulate(lists.begin(), lists.end(), PageSet(),
                             [](PageSet a, const PageSet& b) { return a | b; })};
  for (const PageSet& list : lists) {
    const PageSet barred = context.barred - faults;
    const PageSet moved = list - tree.resident - tree.incoming - tree.leaving - barred;
    tree.counted |= (context.count_leaving ? list : list - tree.leaving) - barred;
    tree.incoming |= moved;
    tree.wanted |= moved & faults;
    cut(index, moved, faults, rule, transfers);
  }
}

}  // namespace lockstep::uvm
