// Which SMs share a GPC.
#pragma once

#include <cstdint>
#include <vector>

#include "config/gpu_config.hpp"

namespace lockstep::config {

/// First compute capability (times 10) with clusters of CTAs.
inline constexpr std::uint32_t kFirstArchWithClusters = 90;

/// GPC of each SM, from 0. TPCs are spread over the GPCs, but for the last one with gpu.last_gpc_sms, as
/// evenly as their numbers allow, in order.
[[nodiscard]] std::vector<std::uint32_t> gpc_of_sms(const GpuGroup& gpu);
/// SMs of each GPC, likewise.
[[nodiscard]] std::vector<std::uint32_t> sms_of_gpcs(const GpuGroup& gpu);

}  // namespace lockstep::config
