// Copies into several CTAs of a cluster. Internal to src/exec.
#pragma once

#include <bit>
#include <cstdint>

#include "exec/warp_state.hpp"

namespace lockstep::exec {

/// Where a lane's bulk copy goes: deliver(place in shared memory, mbarrier), for each CTA of the mask that
/// `multicast` holds; once, for the places as they are, where it does not exist.
template <class F>
void each_target(const WarpState& warp, OperandRef multicast, std::uint32_t lane, Address shared,
                 Address mbarrier, F&& deliver) {
  constexpr Address kOffset = (Address{1} << kSharedRankShift) - 1;
  if (!multicast.exists()) return deliver(shared, mbarrier);
  for (std::uint64_t ranks = warp.at(multicast)->lane[lane] & 0xffff; ranks != 0; ranks &= ranks - 1) {
    const Address base = (Address{static_cast<unsigned>(std::countr_zero(ranks))} + 1) << kSharedRankShift;
    deliver(base | (shared & kOffset), base | (mbarrier & kOffset));
  }
}

}  // namespace lockstep::exec
