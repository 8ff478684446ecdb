#include "gpu/cells.hpp"

#include <utility>

#include "sim/cell_plan.hpp"

namespace lockstep::gpu {
namespace {

constexpr std::uint32_t kNoCell = 0xffffffff, kSeveral = 0xfffffffe;

/// By node, for switches: the cell of all endpoints that they have links to.
std::vector<std::uint32_t> cells_at_switches(const config::SystemConfig& system,
                                             const std::vector<std::uint32_t>& cells) {
  std::vector<std::uint32_t> found(system.nodes(), kNoCell);
  for (const config::LinkEdge& edge : system.edges)
    for (const auto& [node, end] : {std::pair(edge.a, edge.b), std::pair(edge.b, edge.a)}) {
      if (node < system.endpoints() || end >= system.endpoints()) continue;
      found[node] = found[node] == kNoCell || found[node] == cells[end] ? cells[end] : kSeveral;
    }
  return found;
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

std::vector<std::uint32_t> cells_of(const config::SystemConfig& system) {
  std::vector<std::uint32_t> cells = serving_groups(system);
  cells.resize(system.nodes(), 0);
  for (std::uint32_t d = 0; d < system.devices.size(); ++d) {
    if (system.nics > 0) cells[system.nic_of(d)] = cells[d];
    if (system.hosts > 0) cells[system.host_of(d)] = cells[d];
  }
  const std::vector<std::uint32_t> at_switches = cells_at_switches(system, cells);
  for (std::uint32_t node = system.endpoints(); node < system.nodes(); ++node)
    cells[node] = at_switches[node] < kSeveral ? at_switches[node] : sim::CellDivision::kHub;
  return cells;
}

}  // namespace lockstep::gpu
