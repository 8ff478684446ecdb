// cudaLaunchAttributeID: what streams, launches and graph nodes can be given.
#pragma once

#include <algorithm>
#include <array>

namespace lockstep::cuda::attribute {

enum Id {
  kAccessPolicyWindow = 1,
  kCooperative,
  kSynchronizationPolicy,
  kClusterDimension,
  kClusterSchedulingPreference,
  kPriority = 8,
  kMemorySyncDomainMap,
  kMemorySyncDomain,
  kPreferredClusterDimension,
  kPreferredCarveout = 14,
  kNvlinkUtilisation = 16
};

/// "Valid for streams", "valid for graph nodes" (CUDA Runtime API, cudaLaunchAttributeID).
inline constexpr std::array kOfStreams{kAccessPolicyWindow,  kSynchronizationPolicy, kPriority,
                                       kMemorySyncDomainMap, kMemorySyncDomain,      kNvlinkUtilisation};
inline constexpr std::array kOfNodes{
    kAccessPolicyWindow, kCooperative,         kClusterDimension, kClusterSchedulingPreference,
    kPriority,           kMemorySyncDomainMap, kMemorySyncDomain, kPreferredClusterDimension,
    kPreferredCarveout,  kNvlinkUtilisation};

[[nodiscard]] bool is_among(const auto& valid, int id) {
  return std::ranges::any_of(valid, [id](Id one) { return one == id; });
}

}  // namespace lockstep::cuda::attribute
