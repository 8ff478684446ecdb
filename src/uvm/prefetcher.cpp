#include "uvm/prefetcher.hpp"

#include <array>
#include <iterator>
#include <numeric>

namespace lockstep::uvm {
namespace {

/// Every policy, one line each.
constexpr const PrefetchPolicy* kPolicies[] = {
    &kNoPrefetch,       &kRandomPrefetch, &kSequentialPrefetch,
    &kLocalityPrefetch, &kTreePrefetch,   &kDriverPrefetch,
};

}  // namespace

std::span<const PrefetchPolicy* const> prefetchers() { return kPolicies; }

std::span<const std::string_view> prefetcher_names() {
  static const auto names = [] {
    std::array<std::string_view, std::size(kPolicies)> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = kPolicies[i]->name;
    return all;
  }();
  return names;
}

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
