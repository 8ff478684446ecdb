#include "uvm/evictor.hpp"

namespace lockstep::uvm {

/// UVMSmart's policy 0.
constinit const EvictionPolicy kLruTree{
    "lru_2m", "the least recently used 2 MiB", EvictUnit::kTree, true,
    [](const EvictionList& list, const PageTable& table, const EvictionRules& rules, Random&) {
      return first_evictable(list, table, rules, list.reserved(rules));
    }};

}  // namespace lockstep::uvm
