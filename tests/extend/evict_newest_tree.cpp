#include "uvm/evictor.hpp"

namespace lockstep::uvm {

/// The tree that was touched last leaves: what is used in a cycle that does not fit stays, as far as there is
/// room.
extern const EvictionPolicy kNewestTree;
constinit const EvictionPolicy kNewestTree{
    "mru_2m", "the most recently used 2 MiB", EvictUnit::kTree, true,
    [](const EvictionList& list, const PageTable& table, const EvictionRules& rules, Random&) {
      std::optional<Victim> newest;
      (void)list.walk(list.reserved(rules), [&](TreeIndex tree, const PageSet& unit) {
        const PageSet pages = evictable(table[tree], unit, rules);
        if (!pages.empty()) newest = {tree, pages};
        return false;  // go on to the end
      });
      return newest;
    }};

}  // namespace lockstep::uvm
