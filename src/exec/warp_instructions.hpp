// Instructions of a warp that no other component needs anything of: one function each, for the lanes that the
// guard lets pass. Each records itself where the warp is recorded. Internal to src/exec.
#pragma once

#include "exec/warp_state.hpp"

namespace lockstep::exec {

/// atom, red (warp_atomic.cpp)
void execute_atomic(WarpState& warp, const Operation& op, LaneMask active);
/// alloca, stacksave, stackrestore (warp_stack.cpp)
void execute_stack(WarpState& warp, const Operation& op, LaneMask active);
/// ldmatrix, stmatrix (warp_matrix.cpp)
void execute_matrix_move(WarpState& warp, const Operation& op, LaneMask active);
/// wmma.load, wmma.store (warp_wmma.cpp)
void execute_wmma_move(WarpState& warp, const Operation& op, LaneMask active);
/// wgmma.mma_async (warp_warpgroup.cpp)
void execute_warpgroup(WarpState& warp, const Operation& op, LaneMask active);
/// tensormap.replace, tensormap.cp_fenceproxy (warp_tensor_map.cpp)
void execute_tensor_map(WarpState& warp, const Operation& op, LaneMask active);
/// tex, tld4, suld, sust, sured, txq, suq (warp_texture.cpp)
void execute_texture(WarpState& warp, const Operation& op, LaneMask active);

}  // namespace lockstep::exec
