// Functions that the device's runtime provides. Internal to src/exec.
#pragma once

#include <cstdint>

#include "exec/warp_state.hpp"

namespace lockstep::exec {

/// A call of one of them: vprintf, __assertfail, malloc, free, cudaGraphSetConditional, and those below.
void call_runtime(WarpState& warp, const CallSite& site, LaneMask lanes);

/// Dynamic parallelism (warp_children.cpp): one lane's call of a function of the device runtime that launches
/// kernels, or of what goes with these. Returns the function's result.
[[nodiscard]] std::uint64_t call_device_runtime(WarpState& warp, const CallSite& site, std::uint32_t lane);

}  // namespace lockstep::exec
