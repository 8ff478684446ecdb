// Always the youngest: a warp that has issued has no precedence.
#pragma once

#include "core/scheduler_view.hpp"

namespace lockstep::core {

struct YoungestFirst {
  /// The warp of `candidates`, which is not empty, that issues.
  static unsigned pick(WarpSet16 candidates, const SchedulerView& view) { return youngest(candidates, view); }
  /// The warp of `candidates` for which instructions are fetched.
  static unsigned fetch(WarpSet16 candidates, const SchedulerView& view) { return pick(candidates, view); }
};

}  // namespace lockstep::core
