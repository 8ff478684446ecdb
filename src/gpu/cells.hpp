// Which parts of a system belong together.
#pragma once

#include <cstdint>
#include <vector>

#include "config/system_config.hpp"

namespace lockstep::gpu {

/// By device, the number of its group: the devices that a NIC or a host serves.
[[nodiscard]] std::vector<std::uint32_t> serving_groups(const config::SystemConfig& system);

/// By node (config::SystemConfig), the number of its cell (sim::CellDivision): such a group with its
/// NICs, hosts and switches. Switches with links to several groups, or to none, are the hub.
[[nodiscard]] std::vector<std::uint32_t> cells_of(const config::SystemConfig& system);

}  // namespace lockstep::gpu
