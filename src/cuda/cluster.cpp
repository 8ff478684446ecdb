#include "cuda/cluster.hpp"

#include <algorithm>

#include "config/gpcs.hpp"
#include "cuda/error.hpp"

namespace lockstep::cuda {

namespace {

void require_size(bool condition) {
  if (!condition) throw ApiError(Status::kErrorInvalidClusterSize);
}

std::uint64_t ctas(const abi::dim3& d) { return std::uint64_t{d.x} * d.y * d.z; }

std::uint32_t allowed(const Kernel& kernel) {
  const std::uint32_t most = kernel.large_clusters ? kLargestCluster : kPortableCluster;
  const std::uint32_t limit = kernel.function().directives.maxclusterrank;
  return limit == 0 ? most : std::min(most, limit);
}

}  // namespace

void settle_cluster(const Kernel& kernel, KernelLaunch& launch, const config::GpuConfig& gpu) {
  const auto& directives = kernel.function().directives;
  const auto& own = directives.reqnctapercluster;
  if (own[0] > 0) {
    const abi::dim3 required{own[0], std::max(own[1], 1u), std::max(own[2], 1u)};
    require_size(!launch.cluster || *launch.cluster == required);
    launch.cluster = required;
    if (directives.blocksareclusters)
      launch.grid = {launch.grid.x * required.x, launch.grid.y * required.y, launch.grid.z * required.z};
  }
  require_size(launch.cluster || !directives.explicitcluster);
  if (!launch.cluster) return;
  const abi::dim3 &c = *launch.cluster, &g = launch.grid;
  require_size(ctas(c) > 0 && ctas(c) <= allowed(kernel));
  require_size(g.x % c.x == 0 && g.y % c.y == 0 && g.z % c.z == 0);
  require_size(gpu.gpu.arch >= config::kFirstArchWithClusters || ctas(c) == 1);
}

std::uint64_t active_clusters(const Kernel& kernel, const KernelLaunch& launch,
                              const config::GpuConfig& gpu) {
  const std::uint64_t size = ctas(launch.cluster.value_or(abi::dim3{}));
  const std::uint64_t resident = ctas_per_sm(kernel, launch, gpu);
  std::uint64_t clusters = 0;
  for (const std::uint64_t sms : config::sms_of_gpcs(gpu.gpu)) clusters += sms * resident / size;
  return clusters;
}

std::uint64_t largest_cluster(const Kernel& kernel, const KernelLaunch& launch,
                              const config::GpuConfig& gpu) {
  const std::uint64_t sms = std::ranges::max(config::sms_of_gpcs(gpu.gpu));
  return std::min<std::uint64_t>(sms * ctas_per_sm(kernel, launch, gpu), allowed(kernel));
}

}  // namespace lockstep::cuda
