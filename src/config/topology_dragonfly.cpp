#include <fmt/format.h>

#include <algorithm>

#include "config/topology.hpp"
#include "util/error.hpp"

namespace lockstep::config {
namespace {

constexpr TopologyParameter kParameters[] = {
    {"router_devices", "devices at each switch"},
    {"group_routers", "switches of a group, each linked to all others of it"},
};

/// Kim et al., "Technology-Driven, Highly-Scalable Dragonfly Topology" (ISCA 2008). One link between any two
/// groups; a group's links to the others are distributed over its switches in turn.
TopologyGraph generate(std::uint32_t devices, const std::function<std::uint32_t(std::string_view)>& value) {
  const std::uint32_t at_router = value("router_devices"), in_group = value("group_routers");
  const std::uint64_t group_devices = std::uint64_t{at_router} * in_group;
  if (devices % group_devices != 0)
    throw UserError(fmt::format("{} devices do not fill groups of {}", devices, group_devices));
  const std::uint32_t routers = devices / at_router, groups = routers / in_group;
  TopologyGraph graph;
  for (std::uint32_t r = 0; r < routers; ++r) graph.switches.push_back(fmt::format("router{}", r));
  for (std::uint32_t d = 0; d < devices; ++d) graph.attached.push_back({d, devices + d / at_router});
  for (std::uint32_t g = 0; g < groups; ++g)
    for (std::uint32_t a = 0; a < in_group; ++a)
      for (std::uint32_t b = a + 1; b < in_group; ++b)
        link_routers(graph, devices, g * in_group + a, g * in_group + b);
  const auto towards = [&](std::uint32_t from, std::uint32_t to) {  // numbers the other groups only
    const std::uint32_t number = to < from ? to : to - 1;
    return from * in_group + number % in_group;
  };
  for (std::uint32_t g = 0; g < groups; ++g)
    for (std::uint32_t h = g + 1; h < groups; ++h) link_routers(graph, devices, towards(g, h), towards(h, g));
  return graph;
}

}  // namespace

constinit const Topology kDragonfly{
    "dragonfly", "groups of switches with devices, a link between any two groups", kParameters, generate};

}  // namespace lockstep::config
