// When the warps of a kernel read the clock.
#pragma once

#include <cstdint>
#include <vector>

#include "util/types.hpp"

namespace lockstep::core {

/// Core cycles at which clock reads issued, by CTA and warp. A CTA's lists are touched by the one SM that
/// runs it; everything may be read once the kernel is complete.
class ClockLog {
 public:
  ClockLog(std::uint64_t ctas, std::uint32_t warps_per_cta)
      : warps_(warps_per_cta), reads_(ctas * warps_per_cta) {}
  void note(std::uint64_t cta, std::uint32_t warp, Cycle at) { reads_[cta * warps_ + warp].push_back(at); }
  /// In order of CTA, then warp.
  [[nodiscard]] const std::vector<std::vector<Cycle>>& reads() const { return reads_; }

 private:
  std::uint32_t warps_;
  std::vector<std::vector<Cycle>> reads_;
};

}  // namespace lockstep::core
