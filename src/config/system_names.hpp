// The names of a system's nodes in its file.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "config/system_config.hpp"

namespace lockstep::config {

/// Finds a node by name: "gpu0", "nic1", or a switch's name.
[[nodiscard]] std::optional<std::uint32_t> node_named(const SystemConfig& system, std::string_view name);
/// That node, or all devices (`all`), all `hosts` or all `nics`. Throws UserError if there are none.
[[nodiscard]] std::vector<std::uint32_t> nodes_named(const SystemConfig& system, std::string_view name);

}  // namespace lockstep::config
