// Which CTAs of a cluster the lanes of an access go to.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/coalescer.hpp"

namespace lockstep::core {

/// What of an access goes to the shared memory of one CTA.
struct ClusterShare {
  std::uint32_t rank = 0;
  std::uint32_t mbarrier = 0;  // that st.async or red.async signal there; 0: none
  LaneMask lanes = 0;
  std::uint8_t wavefronts = 1;  // passes over the banks
  std::uint16_t bytes = 0;      // of the 32-byte sectors that it touches; what travels is sectors (assumed)
};

class ClusterShares {
 public:
  /// Splits an access whose addresses name CTAs (trace::KernelHeader::shared_ranks, direct or generic ones);
  /// `own`: the rank of the CTA itself, of that many.
  void split(const MioOperation& op, std::uint32_t own, std::uint32_t ranks);
  /// In the order of their first lanes.
  [[nodiscard]] std::span<const ClusterShare> all() const { return std::span(share_).first(count_); }
  /// All lanes access the CTA's own memory and signal nothing.
  [[nodiscard]] bool ordinary(std::uint32_t own) const {
    return count_ == 1 && share_[0].rank == own && share_[0].mbarrier == 0;
  }

 private:
  std::array<ClusterShare, kWarpSize> share_{};
  unsigned count_ = 0;
};

}  // namespace lockstep::core
