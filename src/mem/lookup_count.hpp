// The counters of a look-up in an L2 slice.
#pragma once

#include "icnt/messages.hpp"
#include "stats/counters.hpp"

namespace lockstep::mem {

/// Sectors of a request by what has become of them.
struct Lookup {
  SectorMask hit = 0, merged = 0, missed = 0;
  bool line_there = false;  // before the look-up
};

[[nodiscard]] constexpr bool is_fetch(icnt::AccessKind k) {
  return k == icnt::AccessKind::kInstruction || k == icnt::AccessKind::kConstant;
}

/// `counts_request`: it did not come from the other half, where it was counted.
void count_lookup(stats::PartitionCounters& c, const icnt::Request& r, bool counts_request, const Lookup& l);

}  // namespace lockstep::mem
