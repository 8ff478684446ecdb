// Reports a warp's accesses to the checks of its launch. Internal to src/exec.
#pragma once

#include "exec/check/launch_check.hpp"
#include "exec/warp_access.hpp"

namespace lockstep::exec {

/// Fills in where the lanes of access.mask go; those of parameters are taken out of it.
void place_access(WarpState& warp, StateSpace state_space, const Addresses& addresses, WarpAccess& access);
/// As above, and reports the access to the checks.
void check_lanes(WarpState& warp, StateSpace state_space, const Addresses& addresses, WarpAccess& access);

/// Before a load, an atomic operation, a store.
void check_access(WarpState& warp, const MemoryForm& form, LaneMask active, AccessKind kind);
void check_store(WarpState& warp, const Operation& op, LaneMask active);
/// Before an access to multicast addresses: as accesses of each device's memory. Where there is none, the
/// executor says so.
void check_multimem(WarpState& warp, const Operation& op, LaneMask active);

}  // namespace lockstep::exec
