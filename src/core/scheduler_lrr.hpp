// Loose round robin.
#pragma once

#include "core/scheduler_view.hpp"

namespace lockstep::core {

struct LooseRoundRobin {
  static unsigned pick(WarpSet16 candidates, const SchedulerView& view) {
    const unsigned after = candidates & ~((2u << view.last) - 1u);
    return static_cast<unsigned>(std::countr_zero(after ? after : static_cast<unsigned>(candidates)));
  }
  static unsigned fetch(WarpSet16 candidates, const SchedulerView& view) { return pick(candidates, view); }
};

}  // namespace lockstep::core
