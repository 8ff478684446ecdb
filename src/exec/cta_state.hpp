// What the warps of a CTA share: shared memory, mbarriers, the cluster. Internal to src/exec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/mbarrier_events.hpp"

namespace lockstep::exec {

inline constexpr unsigned kBarriers = 16;  // named barriers of a CTA (PTX ISA 9.0, bar)

struct CtaCheck;

struct CtaState {
  std::uint64_t index = 0;  // in the grid, x fastest
  std::uint32_t warps = 0;
  std::vector<std::byte> shared;
  std::vector<CtaState*> cluster;  // by rank, itself included; empty where there are no clusters
  CtaCheck* checked = nullptr;     // of a launch that is checked
  bool recorded = false;
  MbarrierEvents mbarriers;  // its own, where it is recorded
  std::uint64_t phases = 0;  // of these that have been completed

  /// The CTA with a given rank in the cluster; nullptr if there is none.
  [[nodiscard]] CtaState* peer(std::uint64_t rank) const {
    return rank < cluster.size() ? cluster[rank] : nullptr;
  }
  [[nodiscard]] bool owns(const std::byte* where) const {
    return where >= shared.data() && where < shared.data() + shared.size();
  }
  /// The events of the mbarrier object at `where`; nullptr if it is not the CTA's own.
  [[nodiscard]] MbarrierEvents::Mbarrier* mbarrier_events(const std::byte* where);
  /// A phase of that mbarrier, of any CTA of the cluster, is complete.
  void phase_completed(const std::byte* where);
};

}  // namespace lockstep::exec
