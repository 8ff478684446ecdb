#include "uvm/evictor.hpp"

namespace lockstep::uvm {

/// The driver's root chunks of 2 MiB (open-gpu-kernel-modules, uvm_pmm_gpu.c): first the one into
/// which pages were last put longest ago; accesses do not count. Whatever is resident of it leaves.
constinit const EvictionPolicy kDriverChunk{
    "driver", "the 2 MiB that was filled longest ago", EvictUnit::kTree, false,
    [](const EvictionList& list, const PageTable& table, const EvictionRules& rules, Random&) {
      const EvictionRules partial{rules.reserve_percent, false};
      return first_evictable(list, table, partial, list.reserved(partial));
    }};

}  // namespace lockstep::uvm
