// Generators of a system's switches and links: rings, meshes, trees.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::config {

/// A parameter of a topology, in addition to the number of devices; a key of [topology].
struct TopologyParameter {
  std::string_view key, help;
};

/// A generator's result. Nodes are the devices 0, 1, ..., then the switches, as in SystemConfig.
struct TopologyGraph {
  struct Edge {
    std::uint32_t a = 0, b = 0;
    friend bool operator==(const Edge&, const Edge&) = default;
  };
  std::vector<std::string> switches;  // names
  std::vector<Edge> attached;         // between a device and its switch: links of the kind `attach`
  std::vector<Edge> between;          // all others: links of the kind `link`
};

/// Devices do not forward messages. A topology in which messages pass through neighbours therefore has a
/// switch for each device, to which the device is attached; hops are counted between switches.
struct Topology {
  std::string_view name, help;
  std::span<const TopologyParameter> parameters;
  /// `devices`: at least 1. `value(key)`: a parameter's value, at least 1. Throws UserError if they do not
  /// fit.
  TopologyGraph (*generate)(std::uint32_t devices,
                            const std::function<std::uint32_t(std::string_view)>& value);
};

/// All topologies; a new one is a file topology_*.cpp and a line in topology.cpp.
[[nodiscard]] std::span<const Topology* const> topologies();
/// Finds one by name. Throws UserError that lists the known ones.
[[nodiscard]] const Topology& topology(std::string_view name);

extern const Topology kFullMesh, kStar, kRing, kTorus2d, kFatTree, kDragonfly;

/// For generators: one switch per device, "router0", "router1", ...
[[nodiscard]] TopologyGraph router_at_each(std::uint32_t devices);
/// For generators: links two routers of such a graph, once even if called repeatedly.
void link_routers(TopologyGraph& graph, std::uint32_t devices, std::uint32_t a, std::uint32_t b);

}  // namespace lockstep::config
