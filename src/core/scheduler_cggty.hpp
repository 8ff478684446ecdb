// Compiler-guided greedy then youngest.
#pragma once

#include "core/scheduler_view.hpp"

namespace lockstep::core {

/// What Turing to Blackwell do (Huerta et al., MICRO 2025). The compiler's stall counts are not in traces;
/// the dependences that they guard are.
struct GreedyThenYoungest {
  static unsigned pick(WarpSet16 candidates, const SchedulerView& view) {
    return contains(candidates, view.last) ? view.last : fetch(candidates, view);
  }
  static unsigned fetch(WarpSet16 candidates, const SchedulerView& view) {
    return youngest(candidates, view);
  }
};

}  // namespace lockstep::core
