// Calls and returns. Internal to src/exec.
#pragma once

#include "exec/warp_divergence.hpp"

namespace lockstep::exec {

/// False: no lanes of the split that runs are left to go on; they wait for others, or are gone.
[[nodiscard]] bool execute_call(WarpState& warp, Divergence& paths, const Operation& op, LaneMask active);
[[nodiscard]] bool execute_return(WarpState& warp, Divergence& paths, LaneMask active);

}  // namespace lockstep::exec
