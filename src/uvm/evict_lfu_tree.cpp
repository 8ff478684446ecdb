#include <algorithm>
#include <tuple>

#include "uvm/evictor.hpp"

namespace lockstep::uvm {

/// UVMSmart's policy 4: ascending by accesses of the tree, then those only read before those
/// written, then by time.
constinit const EvictionPolicy kLfuTree{
    "lfu_2m", "the least frequently used 2 MiB", EvictUnit::kTree, true,
    [](const EvictionList& list, const PageTable& table, const EvictionRules& rules, Random&) {
      struct Entry {
        std::uint32_t accesses;
        bool written;
        std::uint64_t age;
        TreeIndex tree;
      };
      std::vector<Entry> entries;
      (void)list.walk(0, [&](TreeIndex tree, const PageSet&) {
        entries.push_back({table[tree].accesses, table[tree].written, entries.size(), tree});
        return false;
      });
      std::optional<Victim> victim;
      const std::uint64_t reserved = list.reserved(rules);
      const auto less = [](const Entry& a, const Entry& b) {
        return std::tie(a.accesses, a.written, a.age) < std::tie(b.accesses, b.written, b.age);
      };
      std::sort(entries.begin(), entries.end(), less);
      for (std::uint64_t i = reserved; i < entries.size() && !victim; ++i) {
        const PageSet pages = evictable(table[entries[i].tree], ~PageSet(), rules);
        if (!pages.empty()) victim = {entries[i].tree, pages};
      }
      return victim;
    }};

}  // namespace lockstep::uvm
