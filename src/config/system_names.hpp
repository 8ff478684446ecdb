// What files call the nodes of a system.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "config/system_config.hpp"

namespace lockstep::config {

/// By its own name: "gpu0", "nic1", a switch's.
[[nodiscard]] std::optional<std::uint32_t> node_named(const SystemConfig& system, std::string_view name);
/// That one, or all devices (`all`), `hosts` or `nics`. Throws UserError where there are none.
[[nodiscard]] std::vector<std::uint32_t> nodes_named(const SystemConfig& system, std::string_view name);

}  // namespace lockstep::config
