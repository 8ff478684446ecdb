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
  MbarrierNumbers numbers;   // those of the first CTA of a cluster are the cluster's
  std::uint64_t phases = 0;  // of these that have been completed

  /// The CTA with a given rank in the cluster; nullptr if there is none.
  [[nodiscard]] CtaState* peer(std::uint64_t rank) const {
    return rank < cluster.size() ? cluster[rank] : nullptr;
  }
  [[nodiscard]] bool owns(const std::byte* where) const {
    return where >= shared.data() && where < shared.data() + shared.size();
  }
  /// Whose an mbarrier of the cluster is.
  struct Place {
    MbarrierEvents::Mbarrier* events = nullptr;  // null: it is in no CTA's shared memory
    std::uint32_t rank = 0;                      // of the CTA; 0 where there are no clusters
    bool own = true;
  };
  [[nodiscard]] Place mbarrier_at(const std::byte* where);
  [[nodiscard]] bool in_cluster() const { return cluster.size() > 1; }
  /// A phase of that mbarrier, of any CTA of the cluster, is complete.
  void phase_completed(const std::byte* where);
};

}  // namespace lockstep::exec
