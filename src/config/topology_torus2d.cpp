#include <fmt/format.h>

#include "config/topology.hpp"
#include "util/error.hpp"

namespace lockstep::config {
namespace {

constexpr TopologyParameter kParameters[] = {
    {"columns", "of the torus; its rows are as many as the devices fill"},
};

TopologyGraph generate(std::uint32_t devices, const std::function<std::uint32_t(std::string_view)>& value) {
  const std::uint32_t columns = value("columns");
  if (devices % columns != 0)
    throw UserError(fmt::format("{} devices do not fill rows of {}", devices, columns));
  const std::uint32_t rows = devices / columns;
  TopologyGraph graph = router_at_each(devices);
  for (std::uint32_t r = 0; r < rows; ++r)
    for (std::uint32_t c = 0; c < columns; ++c) {
      const std::uint32_t here = r * columns + c;
      link_routers(graph, devices, here, r * columns + (c + 1) % columns);
      link_routers(graph, devices, here, (r + 1) % rows * columns + c);
    }
  return graph;
}

}  // namespace

constinit const Topology kTorus2d{
    "torus2d", "a switch at each device, each linked to the next one's of its row and of its column",
    kParameters, generate};

}  // namespace lockstep::config
