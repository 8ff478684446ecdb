// What the nodes of a system must have so that kernels can use the network.
#pragma once

#include "config/system_config.hpp"

namespace lockstep::config {

/// Throws UserError: hosts without NICs, numbers of hosts, NICs and devices that do not divide, values of
/// [command_processor] that do not fit each other, nodes between which no links lead.
void check_nodes(const SystemConfig& system);

}  // namespace lockstep::config
