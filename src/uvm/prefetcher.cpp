#include "uvm/prefetcher.hpp"

#include <array>
#include <iterator>

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
  Tree& tree = table[index];
  for (const PageSet& list : lists) {
    const PageSet moved = list - tree.resident - tree.incoming;
    tree.counted |= list;
    tree.incoming |= moved;
    cut(index, moved, faults, rule, transfers);
  }
}

}  // namespace lockstep::uvm
