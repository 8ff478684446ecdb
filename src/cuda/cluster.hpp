// Clusters of CTAs: what a launch gets, and how many of them the GPU holds at once.
#pragma once

#include "cuda/launch.hpp"

namespace lockstep::cuda {

/// CUDA C++ Programming Guide, Thread Block Clusters: 8 CTAs on every GPU that has clusters; 16 where the
/// kernel says cudaFuncAttributeNonPortableClusterSizeAllowed.
inline constexpr std::uint32_t kPortableCluster = 8, kLargestCluster = 16;

/// Gives `launch` the kernel's cluster (.reqnctapercluster) where it has none of its own, and CTAs where its
/// grid counts clusters (.blocksareclusters). Throws ApiError(InvalidClusterSize) where launch, kernel, or
/// GPU do not agree.
void settle_cluster(const Kernel& kernel, KernelLaunch& launch, const config::GpuConfig& gpu);

/// Clusters of the launch's size that are resident at once: CTAs of one share a GPC.
[[nodiscard]] std::uint64_t active_clusters(const Kernel& kernel, const KernelLaunch& launch,
                                            const config::GpuConfig& gpu);
/// CTAs of the largest cluster that the kernel may have and that a GPC holds; 0 where not even one fits.
[[nodiscard]] std::uint64_t largest_cluster(const Kernel& kernel, const KernelLaunch& launch,
                                            const config::GpuConfig& gpu);

}  // namespace lockstep::cuda
