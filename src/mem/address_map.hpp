// Which L2 slice is home to a line.
#pragma once

#include <cstdint>

#include "config/gpu_config.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

/// Spreads lines evenly over any number of slices (32, 40, 48, 80, ...), for every power-of-two stride, by
/// hashing the line number; consecutive lines go to different slices. Deterministic, the same on every host.
class AddressMap {
 public:
  explicit AddressMap(const config::GpuConfig& config);

  /// Slice that owns the line: partition * slices_per_partition + slice.
  [[nodiscard]] std::uint32_t home_slice(Address line) const;

  /// Slice that a requester in L2 half `half` asks: the home slice when that lies in the same half (or there
  /// is one half), else the slice of the same position in the requester's half, which caches the line for it.
  [[nodiscard]] std::uint32_t near_slice(Address line, std::uint32_t half) const;

  /// Number of the line within its slice: dense, so that line <-> (home slice, local line) is one to one.
  [[nodiscard]] std::uint64_t local_line(Address line) const { return line / kLineBytes / slices_; }

  /// Half of a slice, and of an SM (SMs are split by GPC; the first half of the GPCs is half 0).
  [[nodiscard]] std::uint32_t half_of_slice(std::uint32_t slice) const;
  [[nodiscard]] std::uint32_t half_of_sm(std::uint32_t sm) const;

 private:
  [[nodiscard]] std::uint32_t rotation(std::uint64_t block) const;

  std::uint32_t slices_, halves_, sms_, sms_per_half_;
};

}  // namespace lockstep::mem
