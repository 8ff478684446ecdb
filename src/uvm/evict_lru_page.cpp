#include "uvm/evictor.hpp"

namespace lockstep::uvm {

/// UVMSmart's policy 5.
constinit const EvictionPolicy kLruPage{
    "lru_4k", "the least recently used 4 KiB", EvictUnit::kPage, true,
    [](const EvictionList& list, const PageTable& table, const EvictionRules& rules, Random&) {
      return first_evictable(list, table, rules, list.reserved(rules));
    }};

}  // namespace lockstep::uvm
