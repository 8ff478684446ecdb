#include "config/topology.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/suggest.hpp"
#include "config/value.hpp"
#include "util/error.hpp"

namespace lockstep::config {
namespace {

/// Every topology, one line each.
constexpr const Topology* kTopologies[] = {
    &kFullMesh, &kStar, &kRing, &kTorus2d, &kFatTree, &kDragonfly,
};

}  // namespace

std::span<const Topology* const> topologies() { return kTopologies; }

const Topology& topology(std::string_view name) {
  std::string known;
  for (const Topology* t : kTopologies) {
    if (t->name == name) return *t;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", t->name);
  }
  throw UserError(fmt::format("'{}' is no topology; expected one of {}", printable(name), known));
}

TopologyGraph router_at_each(std::uint32_t devices) {
  TopologyGraph graph;
  for (std::uint32_t d = 0; d < devices; ++d) {
    graph.switches.push_back(fmt::format("router{}", d));
    graph.attached.push_back({d, devices + d});
  }
  return graph;
}

void link_routers(TopologyGraph& graph, std::uint32_t devices, std::uint32_t a, std::uint32_t b) {
  if (a == b) return;
  const TopologyGraph::Edge edge{devices + std::min(a, b), devices + std::max(a, b)};
  if (std::ranges::find(graph.between, edge) == graph.between.end()) graph.between.push_back(edge);
}

}  // namespace lockstep::config
