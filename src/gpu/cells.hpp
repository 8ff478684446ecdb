// Which parts of a system belong together.
#pragma once

#include <cstdint>
#include <vector>

#include "config/system_config.hpp"

namespace lockstep::gpu {

/// By device, the number of its group: the devices that a NIC or a host serves.
[[nodiscard]] std::vector<std::uint32_t> serving_groups(const config::SystemConfig& system);

/// How nodes (config::SystemConfig) are divided into cells (sim::CellDivision).
struct NodeCells {
  std::vector<std::uint32_t> of_node;
  std::vector<std::uint32_t> tiers;  // by cell
  /// That of a node, of the hub one more than of all cells.
  [[nodiscard]] std::uint32_t tier_of(std::uint32_t node) const;
};

/// A cell is a group (serving_groups()) with its NICs, hosts and switches. Switches with links to several
/// groups, or to none, are the hub. Devices whose links take as long as those of the hub or longer are cells
/// of their own: then what serves a group is a cell of the second tier.
[[nodiscard]] NodeCells cells_of(const config::SystemConfig& system);

}  // namespace lockstep::gpu
