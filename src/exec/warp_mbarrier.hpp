// mbarriers, as a warp's lanes see them. Internal to src/exec.
#pragma once

#include <cstdint>

#include "exec/warp_state.hpp"

namespace lockstep::exec {

/// mbarrier.*, cp.async.mbarrier.arrive. True: a try_wait suspends the split that runs; it comes again.
[[nodiscard]] bool execute_mbarrier(WarpState& warp, const Operation& op, LaneMask active);

/// Mbarriers that a bulk copy signals: those with a number, in the CTAs of the cluster with these ranks.
struct Signalled {
  std::uint32_t number = 0;  // 0: none
  std::uint32_t ranks = 0;   // none: the CTA's own only
  std::uint32_t bytes = 0;   // of a copy between CTAs
};

/// Signals to the mbarrier at `where`, an address in the space of MemoryForm number `mbarrier`, that bytes
/// have arrived. `signalled`: for a bulk copy, which is an event; gets the mbarrier.
void complete_bytes(WarpState& warp, std::uint32_t mbarrier, std::uint32_t lane, Address where,
                    std::uint32_t bytes, Signalled* signalled = nullptr);
/// st.async and red.async, which have been recorded: this many bytes have arrived from each lane.
void complete_bytes_of_lanes(WarpState& warp, std::uint32_t mbarrier, LaneMask active, std::uint32_t bytes);

}  // namespace lockstep::exec
