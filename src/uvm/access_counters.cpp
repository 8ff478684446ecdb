#include "uvm/access_counters.hpp"

namespace lockstep::uvm {

void AccessCounters::accessed(TreeIndex tree, unsigned leaf) {
  std::uint32_t& count = of(tree).accesses[leaf];
  if (count == kMaxAccesses)
    for (Counts& counts : trees_)
      for (std::uint32_t& a : counts.accesses) a /= 2;
  ++count;
}

void AccessCounters::round_trip(TreeIndex tree, unsigned leaves) {
  for (unsigned leaf = 0; leaf < leaves; ++leaf) {
    std::uint8_t& trips = of(tree).round_trips[leaf];
    if (trips == kMaxRoundTrips)
      for (Counts& counts : trees_)
        for (std::uint8_t& t : counts.round_trips) t = static_cast<std::uint8_t>(t / 2);
    ++trips;
  }
}

}  // namespace lockstep::uvm
