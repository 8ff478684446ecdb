#include <algorithm>

#include "uvm/remote.hpp"

namespace lockstep::uvm {

/// UVMSmart's -enable_dma 1 (Ganguly et al., "Adaptive page migration for irregular data-intensive
/// applications under GPU memory oversubscription", IPDPS 2020): the threshold grows with the occupancy of
/// memory, and once memory is over-subscribed with the round trips of the 64 KB.
constinit const RemotePolicy kRemoteAdaptive{
    "adaptive", "a threshold that grows with occupancy, then with round trips", false, false,
    [](const RemoteContext& c) {
      constexpr std::uint64_t kMaxLimit = 0xffffffff;
      const std::uint64_t t = c.threshold;
      const std::uint64_t limit = c.oversubscribed ? t * c.penalty * (std::uint64_t{c.round_trips} + 1)
                                                   : 1 + t * c.occupied / c.capacity;
      return static_cast<std::uint32_t>(std::min(limit, kMaxLimit));
    }};

}  // namespace lockstep::uvm
