#include "exec/warp_groups.hpp"

#include <algorithm>

namespace lockstep::exec {

bool WarpGroups::cluster_wait(WarpState& warp, Divergence& paths, LaneMask active) const {
  const LaneMask waiting = active & arrived_;
  if (waiting != 0) return paths.block(warp, Split::State::kAtCluster, waiting, 0, 0);
  ++warp.now.pc;
  return true;
}

void WarpGroups::release_cluster(Divergence& paths) {
  arrived_ = 0;
  for (Split& split : paths.others())
    if (split.state == Split::State::kAtCluster) Divergence::release(split);
}

/// Until no warp of the warpgroup has more than op.detail of the groups left that this one has committed.
bool WarpGroups::wait(WarpState& warp, Divergence& paths, const Operation& op, LaneMask active,
                      std::uint32_t least) const {
  const std::uint32_t needed = committed_ - std::min(committed_, op.detail);
  if (active == 0 || least >= needed) {
    ++warp.now.pc;
    return true;
  }
  return paths.block(warp, Split::State::kAtWarpgroup, active, 0, needed);
}

void WarpGroups::release_warpgroup(Divergence& paths, std::uint32_t groups) {
  for (Split& split : paths.others())
    if (split.state == Split::State::kAtWarpgroup && split.barrier <= groups) Divergence::release(split);
}

}  // namespace lockstep::exec
