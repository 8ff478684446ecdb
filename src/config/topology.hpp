// Generators of a system's switches and links: rings, meshes, trees.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::config {

/// A number that a topology needs beside the number of devices; key of [topology].
struct TopologyParameter {
  std::string_view key, help;
};

/// What a generator gives. Nodes are the devices 0, 1, ..., then the switches, as in SystemConfig.
struct TopologyGraph {
  struct Edge {
    std::uint32_t a = 0, b = 0;
    friend bool operator==(const Edge&, const Edge&) = default;
  };
  std::vector<std::string> switches;  // their names
  std::vector<Edge> attached;         // a device's: the links named by `attach`
  std::vector<Edge> between;          // the others: those named by `link`
};

/// Devices pass nothing on, so a topology in which messages go through neighbours has a switch at each
/// device, to which the device is attached; its hops are counted between switches.
struct Topology {
  std::string_view name, help;
  std::span<const TopologyParameter> parameters;
  /// `devices`: at least 1. `value(key)`: of a parameter, at least 1. Throws UserError where they do not fit.
  TopologyGraph (*generate)(std::uint32_t devices,
                            const std::function<std::uint32_t(std::string_view)>& value);
};

/// All of them; a new one is a file topology_*.cpp and a line in topology.cpp.
[[nodiscard]] std::span<const Topology* const> topologies();
/// Throws UserError, which lists the known ones.
[[nodiscard]] const Topology& topology(std::string_view name);

extern const Topology kFullMesh, kStar, kRing, kTorus2d, kFatTree, kDragonfly;

/// For generators: a switch at each device, "router0", "router1", ...
[[nodiscard]] TopologyGraph router_at_each(std::uint32_t devices);
/// For generators: links the two routers of such a graph, once however often it is asked for.
void link_routers(TopologyGraph& graph, std::uint32_t devices, std::uint32_t a, std::uint32_t b);

}  // namespace lockstep::config
