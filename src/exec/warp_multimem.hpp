// Accesses to multicast addresses. Internal to src/exec.
#pragma once

#include <cstdint>

#include "exec/warp_state.hpp"

namespace lockstep::exec {

/// multimem.ld_reduce, multimem.st, multimem.red
void execute_multimem(WarpState& warp, const Operation& op, LaneMask active);

/// Where a lane's access goes: at least one place. Faults if there is none, or if it is misaligned.
[[nodiscard]] MulticastWindows::Places multimem_places(const WarpState& warp, std::uint32_t lane,
                                                       std::uint32_t bytes, Address address);

}  // namespace lockstep::exec
