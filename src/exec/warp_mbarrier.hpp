// mbarriers, as a warp's lanes see them. Internal to src/exec.
#pragma once

#include <cstdint>

#include "exec/warp_state.hpp"

namespace lockstep::exec {

/// mbarrier.*, cp.async.mbarrier.arrive. True: a try_wait suspends the split that runs; it comes again.
[[nodiscard]] bool execute_mbarrier(WarpState& warp, const Operation& op, LaneMask active);

/// Signals to the mbarrier at `where`, an address in the space of MemoryForm number `mbarrier`, that bytes
/// have arrived. `signalled`: for a bulk copy, which is an event; gets the mbarrier's number if it is the
/// CTA's own.
void complete_bytes(WarpState& warp, std::uint32_t mbarrier, std::uint32_t lane, Address where,
                    std::uint32_t bytes, std::uint32_t* signalled = nullptr);
/// st.async and red.async: this many bytes have arrived from each lane.
void complete_bytes_of_lanes(WarpState& warp, std::uint32_t mbarrier, LaneMask active, std::uint32_t bytes);

}  // namespace lockstep::exec
