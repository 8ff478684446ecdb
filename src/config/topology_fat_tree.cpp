#include <fmt/format.h>

#include "config/topology.hpp"

namespace lockstep::config {
namespace {

constexpr TopologyParameter kParameters[] = {
    {"leaf_devices", "devices at each leaf switch; the last one may have fewer"},
    {"spines", "switches above, each linked to all leaves"},
};

/// Two levels: Leiserson (IEEE Transactions on Computers, 1985), built from identical switches.
TopologyGraph generate(std::uint32_t devices, const std::function<std::uint32_t(std::string_view)>& value) {
  const std::uint32_t at_leaf = value("leaf_devices"), spines = value("spines");
  const std::uint32_t leaves = (devices + at_leaf - 1) / at_leaf;
  TopologyGraph graph;
  for (std::uint32_t l = 0; l < leaves; ++l) graph.switches.push_back(fmt::format("leaf{}", l));
  for (std::uint32_t s = 0; s < spines; ++s) graph.switches.push_back(fmt::format("spine{}", s));
  for (std::uint32_t d = 0; d < devices; ++d) graph.attached.push_back({d, devices + d / at_leaf});
  for (std::uint32_t l = 0; l < leaves; ++l)
    for (std::uint32_t s = 0; s < spines; ++s) graph.between.push_back({devices + l, devices + leaves + s});
  return graph;
}

}  // namespace

constinit const Topology kFatTree{"fat_tree", "leaf switches with devices, and spine switches above them",
                                  kParameters, generate};

}  // namespace lockstep::config
