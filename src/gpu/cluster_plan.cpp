#include "gpu/cluster_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/gpcs.hpp"
#include "util/error.hpp"

namespace lockstep::gpu {

std::uint32_t cluster_ctas(const trace::KernelHeader& header, const config::Occupancy& occupancy,
                           const config::GpuConfig& config, std::set<std::string>& remarks) {
  const std::uint64_t ctas = header.cluster.count();
  if (ctas == 1) return 1;
  if (config.cluster.latency == 0) {
    if (header.shared_ranks)
      throw UserError(
          fmt::format("kernel {} ({}) has clusters of {} thread blocks, and {} has none "
                      "(cluster.latency = 0); expected a GPU of compute capability 9.0 or higher",
                      header.id, header.name, ctas, config.gpu.name));
    remarks.insert(
        fmt::format("thread blocks of clusters are placed one by one: {} has no clusters "
                    "(cluster.latency = 0)",
                    config.gpu.name));
    return 1;
  }
  const std::uint64_t room = std::ranges::max(config::sms_of_gpcs(config.gpu)) * occupancy.ctas_per_sm;
  if (ctas > room)
    throw UserError(
        fmt::format("kernel {} ({}): a cluster has {} thread blocks, and the largest GPC of {} "
                    "has room for {} of them; expected at most that many",
                    header.id, header.name, ctas, config.gpu.name, room));
  return static_cast<std::uint32_t>(ctas);
}

}  // namespace lockstep::gpu
