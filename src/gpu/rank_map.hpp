// Which process simulates which part of a system.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/system_config.hpp"
#include "sim/rank_channels.hpp"

namespace lockstep::gpu {

/// Ranks of the nodes of a system by their numbers (config::SystemConfig). Whole devices, with the NICs and
/// hosts that serve them: only links are cut, and the ways between the host's program and all of them.
struct RankMap {
  sim::Rank here = 0, ranks = 1;
  std::vector<sim::Rank> of_node;  // empty: all is here
  [[nodiscard]] bool is_here(std::uint32_t node) const { return of_node.empty() || of_node[node] == here; }
  [[nodiscard]] bool is_whole() const { return of_node.empty(); }
};

/// Devices in as many rows as there are ranks, in their order; devices that share a NIC or a host are not
/// separated. A switch is with the first node that has a link to it. Throws UserError where there are more
/// ranks than devices, or groups of such devices.
[[nodiscard]] std::vector<sim::Rank> spread(const config::SystemConfig& system, sim::Rank ranks);
/// As `file` says: a line NODE RANK for each device, and for switches that are not to be with the first
/// node that has a link to them; # begins a comment. Throws InputError, UserError.
[[nodiscard]] std::vector<sim::Rank> read_rank_map(const std::string& file,
                                                   const config::SystemConfig& system, sim::Rank ranks);

}  // namespace lockstep::gpu
