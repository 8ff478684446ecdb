// How many CTAs of a kernel fit an SM, and which resource limits them.
#pragma once

#include <cstdint>
#include <string>

#include "config/gpu_config.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::config {

struct Occupancy {
  std::uint32_t ctas_per_sm = 0;  // at the chosen carve-out, whatever the size of the grid
  const char* limiter = "";   // "warps", "threads", "ctas", "registers" or "shared": the first that limits
  std::uint8_t carveout = 0;  // index into l1.shared_carveouts_kib
  std::uint32_t warps_per_cta = 0;
  std::uint32_t threads_per_cta = 0;     // rounded up to whole warps
  std::uint32_t registers_per_warp = 0;  // rounded up to sm.register_unit
  std::uint32_t shared_bytes = 0;        // per CTA: with sm.shared_reserved, rounded up to sm.shared_unit
};

/// The rules of NVIDIA's occupancy calculator (cuda_occupancy.h of the CUDA toolkit): registers are allocated
/// to whole warps in units and each sub-core owns its share of the register file; shared memory per CTA
/// includes what the system reserves. The carve-out is the smallest with which shared memory does not lower
/// what the other resources allow, or else the smallest with the most CTAs. Throws UserError when not even
/// one CTA fits.
[[nodiscard]] Occupancy occupancy(const GpuConfig& config, const trace::KernelHeader& kernel);
/// The most registers per thread with which a CTA of `threads` threads fits an SM.
[[nodiscard]] std::uint32_t max_registers(const SmGroup& sm, std::uint64_t threads);

}  // namespace lockstep::config
