#include "uvm/evictor.hpp"

namespace lockstep::uvm {

/// UVMSmart's policy 2: of the 2 MB whose newest 64 KB is oldest, the oldest 64 KB.
constinit const EvictionPolicy kSequentialLeaf{
    "sequential", "the oldest 64 KB of the least recently used 2 MB", EvictUnit::kLeaf, true,
    [](const EvictionList& list, const PageTable& table, const EvictionRules& rules, Random&) {
      return first_evictable(list, table, rules, list.reserved(rules));
    }};

}  // namespace lockstep::uvm
