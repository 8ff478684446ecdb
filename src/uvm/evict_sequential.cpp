#include "uvm/evictor.hpp"

namespace lockstep::uvm {

/// UVMSmart's policy 2: of the 2 MiB whose newest 64 KiB is oldest, the oldest 64 KiB.
constinit const EvictionPolicy kSequentialLeaf{
    "sequential", "the oldest 64 KiB of the least recently used 2 MiB", EvictUnit::kLeaf, true,
    [](const EvictionList& list, const PageTable& table, const EvictionRules& rules, Random&) {
      return first_evictable(list, table, rules, list.reserved(rules));
    }};

}  // namespace lockstep::uvm
