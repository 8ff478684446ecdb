#include "config/topology.hpp"

namespace lockstep::config {
namespace {

TopologyGraph generate(std::uint32_t devices, const std::function<std::uint32_t(std::string_view)>&) {
  TopologyGraph graph;
  for (std::uint32_t a = 0; a < devices; ++a)
    for (std::uint32_t b = a + 1; b < devices; ++b) graph.between.push_back({a, b});
  return graph;
}

}  // namespace

constinit const Topology kFullMesh{"full_mesh", "links between any two devices, no switch", {}, generate};

}  // namespace lockstep::config
