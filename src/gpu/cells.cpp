#include "gpu/cells.hpp"

#include <algorithm>
#include <utility>

#include "sim/cell_plan.hpp"

namespace lockstep::gpu {
namespace {

constexpr std::uint32_t kHub = sim::CellDivision::kHub;

/// By node, the group; of switches that of all endpoints that they have links to, kHub for several or none.
std::vector<std::uint32_t> groups_of_nodes(const config::SystemConfig& system) {
  std::vector<std::uint32_t> groups = serving_groups(system);
  groups.resize(system.nodes(), kHub);
  for (std::uint32_t d = 0; d < system.devices.size(); ++d) {
    if (system.nics > 0) groups[system.nic_of(d)] = groups[d];
    if (system.hosts > 0) groups[system.host_of(d)] = groups[d];
  }
  std::vector<bool> several(system.nodes());
  for (const config::LinkEdge& edge : system.edges)
    for (const auto& [node, end] : {std::pair(edge.a, edge.b), std::pair(edge.b, edge.a)}) {
      if (node < system.endpoints() || end >= system.endpoints()) continue;
      several[node] = several[node] || (groups[node] != kHub && groups[node] != groups[end]);
      groups[node] = groups[end];
    }
  for (std::uint32_t node = 0; node < system.nodes(); ++node)
    if (several[node]) groups[node] = kHub;
  return groups;
}

/// Whether each device is to be a cell of its own, apart from what serves its group.
bool devices_stand_alone(const config::SystemConfig& system, const std::vector<std::uint32_t>& groups) {
  if (system.nics + system.hosts == 0) return false;
  std::uint64_t of_devices = ~std::uint64_t{0}, of_hub = ~std::uint64_t{0};
  for (const config::LinkEdge& edge : system.edges) {
    const std::uint64_t latency = system.kinds[edge.kind].latency_ps;
    if (std::min(edge.a, edge.b) < system.devices.size()) of_devices = std::min(of_devices, latency);
    if (groups[edge.a] == kHub || groups[edge.b] == kHub) of_hub = std::min(of_hub, latency);
  }
  return of_devices >= of_hub;
}

}  // namespace

std::vector<std::uint32_t> serving_groups(const config::SystemConfig& system) {
  std::vector<std::uint32_t> group{0};
  for (std::uint32_t d = 1; d < system.devices.size(); ++d) {
    const bool joined = (system.nics > 0 && system.nic_of(d) == system.nic_of(d - 1)) ||
                        (system.hosts > 0 && system.host_of(d) == system.host_of(d - 1));
    group.push_back(group.back() + (joined ? 0 : 1));
  }
  return group;
}

std::uint32_t NodeCells::tier_of(std::uint32_t node) const {
  return of_node[node] == kHub ? tiers.back() + 1 : tiers[of_node[node]];
}

NodeCells cells_of(const config::SystemConfig& system) {
  NodeCells cells{groups_of_nodes(system), {}};
  const auto devices = static_cast<std::uint32_t>(system.devices.size());
  const std::uint32_t groups = cells.of_node[devices - 1] + 1;
  if (!devices_stand_alone(system, cells.of_node)) {
    cells.tiers.assign(groups, 0);
    return cells;
  }
  for (std::uint32_t node = 0; node < system.nodes(); ++node)
    if (node < devices)
      cells.of_node[node] = node;
    else if (cells.of_node[node] != kHub)
      cells.of_node[node] += devices;
  cells.tiers.assign(devices, 0);
  cells.tiers.resize(devices + groups, 1);
  return cells;
}

}  // namespace lockstep::gpu
