// What a warp's lanes do together with other warps: barriers of a cluster, groups of a warpgroup's products.
// Internal to src/exec.
#pragma once

#include <cstdint>

#include "exec/warp_divergence.hpp"

namespace lockstep::exec {

class WarpGroups {
 public:
  void cluster_arrive(LaneMask active) { arrived_ |= active; }
  /// False: no lanes of the split that runs are left to go on.
  [[nodiscard]] bool cluster_wait(WarpState& warp, Divergence& paths, LaneMask active) const;
  /// Have all lanes that are left arrived at the cluster's barrier?
  [[nodiscard]] bool arrived_at_cluster(LaneMask live) const { return (live & ~arrived_) == 0; }
  void release_cluster(Divergence& paths);

  /// wgmma.commit_group of all lanes.
  void commit() { ++committed_; }
  /// wgmma.wait_group. `least`: groups that all warps of the warpgroup have committed. False: as above.
  [[nodiscard]] bool wait(WarpState& warp, Divergence& paths, const Operation& op, LaneMask active,
                          std::uint32_t least) const;
  /// Groups of products that the warp has committed.
  [[nodiscard]] std::uint32_t committed() const { return committed_; }
  /// Whether all warps of its warpgroup have committed that many.
  static void release_warpgroup(Divergence& paths, std::uint32_t groups);

  void add_to(Fingerprint& print) const {
    print.add(std::uint64_t{arrived_});
    print.add(std::uint64_t{committed_});
  }

 private:
  LaneMask arrived_ = 0;  // at the cluster's barrier, in the phase that is not complete
  std::uint32_t committed_ = 0;
};

}  // namespace lockstep::exec
