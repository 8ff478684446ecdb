// Reports a warp's copies, which are asynchronous on hardware, to the checks of its launch. Internal to
// src/exec.
#pragma once

#include <cstdint>

#include "exec/warp_state.hpp"

namespace lockstep::exec {

/// Before cp.async, cp.async.bulk, a change of a tensor map.
void check_copy_async(WarpState& warp, const Operation& op, LaneMask active);
void check_copy_bulk(WarpState& warp, const Operation& op, LaneMask active);
void check_tensor_map(WarpState& warp, const Operation& op, LaneMask active);
/// Before one unit of a tensor copy: `bytes` of it, `skip` bytes from its begin, are elements of the tensor.
void check_tensor_unit(WarpState& warp, const TensorForm& form, std::uint32_t lane, Address unit,
                       std::uint32_t skip, Address element, std::uint32_t bytes);

}  // namespace lockstep::exec
