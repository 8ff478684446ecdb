#include "config/topology.hpp"

namespace lockstep::config {
namespace {

TopologyGraph generate(std::uint32_t devices, const std::function<std::uint32_t(std::string_view)>&) {
  TopologyGraph graph;
  graph.switches.emplace_back("hub");
  for (std::uint32_t d = 0; d < devices; ++d) graph.attached.push_back({d, devices});
  return graph;
}

}  // namespace

constinit const Topology kStar{"star", "all devices at one switch, `hub`", {}, generate};

}  // namespace lockstep::config
