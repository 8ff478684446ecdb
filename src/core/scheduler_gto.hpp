// Greedy then oldest.
#pragma once

#include "core/scheduler_view.hpp"

namespace lockstep::core {

/// Rogers et al., MICRO 2012.
struct GreedyThenOldest {
  static unsigned pick(WarpSet16 candidates, const SchedulerView& view) {
    return contains(candidates, view.last) ? view.last : fetch(candidates, view);
  }
  static unsigned fetch(WarpSet16 candidates, const SchedulerView& view) { return oldest(candidates, view); }
};

}  // namespace lockstep::core
