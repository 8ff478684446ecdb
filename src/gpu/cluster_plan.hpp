// Whether a kernel's clusters can be placed.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "config/occupancy.hpp"

namespace lockstep::gpu {

/// How many CTAs of the kernel are placed together: those of its clusters. Where the GPU has no clusters, 1,
/// which is added to `remarks`, or a UserError if CTAs would wait for others of their cluster. Throws
/// UserError where no GPC has room for a cluster.
[[nodiscard]] std::uint32_t cluster_ctas(const trace::KernelHeader& header,
                                         const config::Occupancy& occupancy, const config::GpuConfig& config,
                                         std::set<std::string>& remarks);

}  // namespace lockstep::gpu
