#include "uvm/evictor.hpp"

namespace lockstep::uvm {

/// UVMSmart's policy 3: a random start among those that are not reserved, then the first that may leave from
/// there on.
constinit const EvictionPolicy kRandomPage{
    "random", "a random 4 KiB", EvictUnit::kPage, true,
    [](const EvictionList& list, const PageTable& table, const EvictionRules& rules, Random& random) {
      const auto free = static_cast<std::uint32_t>(list.size() * (100 - rules.reserve_percent) / 100);
      if (free == 0) return std::optional<Victim>();
      return first_evictable(list, table, rules, list.reserved(rules) + random.below(free));
    }};

}  // namespace lockstep::uvm
