#include "config/system_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/network_fields.hpp"
#include "util/error.hpp"

namespace lockstep::config {
namespace {

/// Whether a link leads from one node to the other.
bool linked(const SystemConfig& system, std::uint32_t a, std::uint32_t b) {
  return std::ranges::any_of(system.edges, [&](const LinkEdge& edge) {
    return (edge.a == a && edge.b == b) || (edge.a == b && edge.b == a);
  });
}

/// Messages of the network go from a device to its NIC, between NICs, and where threads of the host serve the
/// queues, between host, device and NIC.
void check_ways(const SystemConfig& system) {
  const auto routes = system.routes();
  const auto check = [&](std::uint32_t a, std::uint32_t b) {
    if (a == b) return;
    if (routes[a][b] == SystemConfig::kNoEdge || routes[b][a] == SystemConfig::kNoEdge)
      throw UserError(
          fmt::format("no links lead from {} to {}; expected [edges] with a way over switches alone",
                      system.node_name(a), system.node_name(b)));
  };
  for (std::uint32_t d = 0; d < system.first_host(); ++d) {
    check(d, system.nic_of(d));
    if (!system.has_working_hosts()) continue;
    if (traits(system.network.node.design).coherent && !linked(system, d, system.host_of(d)))
      throw UserError(fmt::format(
          "[node] has design = {}, in which device and host share coherent memory; expected a link "
          "between {} and {} in [edges]",
          traits(system.network.node.design).name, system.node_name(d), system.node_name(system.host_of(d))));
    check(d, system.host_of(d));
    check(system.host_of(d), system.nic_of(d));
  }
  for (std::uint32_t a = system.first_nic(); a < system.endpoints(); ++a)
    for (std::uint32_t b = a + 1; b < system.endpoints(); ++b) check(a, b);
}

}  // namespace

void check_nodes(const SystemConfig& system) {
  if (system.nics == 0) {
    if (system.hosts > 0) throw UserError("[system] has 'hosts' without 'nics'; expected both or none");
    return;
  }
  const std::uint32_t devices = system.first_host();
  if (devices % system.nics != 0 || (system.hosts > 0 && devices % system.hosts != 0))
    throw UserError(fmt::format(
        "[system] has {} devices, {} hosts and {} NICs; expected as many devices for each of them", devices,
        system.hosts, system.nics));
  if (system.has_working_hosts() && system.hosts == 0)
    throw UserError(fmt::format("[node] has design = {}; expected 'hosts' in [system]",
                                traits(system.network.node.design).name));
  check_network(system.network);
  if (system.cores() > 0 && system.network.command_processor.call_updates > 0)
    for (const GpuConfig& device : system.devices)
      if (device.l2.halves > 1)
        throw UserError(
            "command_processor.call_updates is more than 0; expected l2.halves = 1, as a lock of a line is "
            "in one "
            "slice");
  check_ways(system);
}

}  // namespace lockstep::config
