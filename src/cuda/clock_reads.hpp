// Simulated times for a kernel's reads of its clocks.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/launch.hpp"

namespace lockstep::cuda {

/// Core cycles by CTA and warp, in the order in which the warp reads.
class ClockReads {
 public:
  /// `cycles`: for each CTA and warp in order; `core_khz` gives %globaltimer.
  ClockReads(std::vector<std::vector<std::uint64_t>> cycles, std::uint32_t warps_per_cta,
             std::uint64_t core_khz);

  /// Good as long as this object stays in its place.
  [[nodiscard]] exec::ClockSource source();
  /// After the run: some warp read its clock more or less often than expected. Where it read more often the
  /// times went on as before.
  [[nodiscard]] bool differed() const;

 private:
  [[nodiscard]] std::uint64_t cycle(std::uint64_t cta, std::uint32_t warp, std::uint64_t read);

  std::vector<std::vector<std::uint64_t>> cycles_;
  std::vector<std::uint64_t> used_;  // reads so far
  std::uint32_t warps_per_cta_;
  std::uint64_t core_khz_;
};

}  // namespace lockstep::cuda
