// Call frames of a warp: registers and local memory of a call, its parameters and results. Internal to
// src/exec.
#pragma once

#include <cstdint>

#include "exec/warp_state.hpp"

namespace lockstep::exec {

/// The kernel's own frame, and no other.
void start_frames(WarpState& warp);
/// What depends on the frame of the split that runs.
inline void enter_frame(WarpState& warp) {
  const Frame& frame = warp.frames[warp.now.frame];
  warp.bases[static_cast<unsigned>(Home::kRegister)] = warp.file.data() + warp.first_row + frame.base;
  warp.bases[static_cast<unsigned>(Home::kFixed)] = warp.file.data();
  warp.bases[static_cast<unsigned>(Home::kConstant)] =
      const_cast<LaneValues*>(warp.machine->kernel.constants().data());  // constants are never written
  warp.frame_local = frame.local;
}

/// Rows that become 0 before the operation at which the split stands (FunctionCode::clears), for its lanes.
void clear_rows(WarpState& warp);

/// `split`, whose lanes are `lanes`, goes on in the function, in a frame of its own with the call's
/// arguments. Faults where the stack is used up.
void push_frame(WarpState& warp, const CallSite& site, std::uint32_t function, LaneMask lanes, Split& split);
/// `split` goes on behind the call, which gets the results.
void pop_frame(WarpState& warp, Split& split);

/// An argument of a call of the runtime, of one lane of the split that runs, and its result.
[[nodiscard]] std::uint64_t argument(WarpState& warp, const CallValue& value, std::uint32_t lane);
void give(WarpState& warp, const CallValue& value, std::uint32_t lane, std::uint64_t bits);

}  // namespace lockstep::exec
