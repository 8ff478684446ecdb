// Reads that wait for a value. Internal to src/exec.
#pragma once

#include "exec/warp_state.hpp"

namespace lockstep::exec {

inline constexpr unsigned kSpinLimit = 16;  // equal polls until a split counts as spinning

/// A poll of the split that runs. Counts, as its spins, polls that see what the one before at this place saw;
/// where whole rounds of polls see what the round before saw, these become more than kSpinLimit: all of the
/// warp waits. `lock`: by an atomic that compares.
void note_poll(WarpState& warp, LaneMask active, const Addresses& addresses, const LaneValues& value,
               bool lock);

}  // namespace lockstep::exec
