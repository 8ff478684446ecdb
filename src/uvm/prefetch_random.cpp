#include "uvm/prefetcher.hpp"

namespace lockstep::uvm {

/// UVMSmart: with each faulting page one drawn from the same tree, unless that one is resident, incoming or
/// chosen already. A page that faults in the same set may be drawn: it then travels once, with the first list
/// that has it.
constinit const PrefetchPolicy kRandomPrefetch{
    "random", "one random page of the same 2 MiB beside each faulting one",
    [](const Tree& tree, const PageSet& faults, PrefetchContext& context, std::vector<PageSet>& lists) {
      PageSet chosen;
      faults.for_each([&](unsigned page) {
        PageSet list = PageSet::range(page, 1);
        const unsigned drawn = context.random.below(tree.pages);
        const bool free =
            !tree.resident.contains(drawn) && !tree.incoming.contains(drawn) && !chosen.contains(drawn);
        if (free) list.insert(drawn);
        chosen |= list;
        lists.push_back(list);
      });
    }};

}  // namespace lockstep::uvm
