#include "config/topology.hpp"

namespace lockstep::config {
namespace {

TopologyGraph generate(std::uint32_t devices, const std::function<std::uint32_t(std::string_view)>&) {
  TopologyGraph graph = router_at_each(devices);
  for (std::uint32_t d = 0; d + 1 < devices; ++d) link_routers(graph, devices, d, d + 1);
  return graph;
}

}  // namespace

extern const Topology kLine;
constinit const Topology kLine{
    "line", "a switch at each device, each linked to the next one's; the ends are not linked", {}, generate};

}  // namespace lockstep::config
