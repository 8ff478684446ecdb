// Checks that the nodes of a system allow kernels to use the network.
#pragma once

#include "config/system_config.hpp"

namespace lockstep::config {

/// Throws UserError for hosts without NICs, numbers of hosts, NICs and devices that do not divide each other,
/// inconsistent values of [command_processor], and nodes that no links connect.
void check_nodes(const SystemConfig& system);

}  // namespace lockstep::config
