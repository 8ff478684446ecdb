// Which nodes of a system belong together.
#include "gpu/cells.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "config/system_config.hpp"
#include "sim/cell_plan.hpp"

namespace lockstep::gpu {
namespace {

using sim::CellDivision;

/// The last digit of a node's name.
std::uint32_t number_of(const std::string& name) { return static_cast<std::uint32_t>(name.back() - '0'); }

TEST_CASE("cells: a device is one, its host, NIC and PCI Express switch one of the second tier") {
  const config::SystemConfig system = config::resolve_system("compnet_8");
  const NodeCells cells = cells_of(system);
  REQUIRE(cells.of_node.size() == system.nodes());
  for (std::uint32_t node = 0; node < system.nodes(); ++node) {
    const std::string name = system.node_name(node);
    CAPTURE(name);
    if (name == "net") {
      CHECK(cells.of_node[node] == CellDivision::kHub);
      CHECK(cells.tier_of(node) == 2);
    } else if (node < 8) {
      CHECK(cells.of_node[node] == number_of(name));
      CHECK(cells.tier_of(node) == 0);
    } else {
      CHECK(cells.of_node[node] == 8 + number_of(name));
      CHECK(cells.tier_of(node) == 1);
    }
  }
}

TEST_CASE("cells: a device nearer to what serves it than nodes are to the network is in one cell with it") {
  config::SystemConfig system = config::resolve_system("compnet_8");
  for (config::LinkKind& kind : system.kinds)
    if (kind.name == "pcie_gpu") kind.latency_ps = 40'000;  // the wires have 50 ns
  const NodeCells cells = cells_of(system);
  for (std::uint32_t node = 0; node < system.nodes(); ++node) {
    const std::string name = system.node_name(node);
    CAPTURE(name);
    CHECK(cells.of_node[node] == (name == "net" ? CellDivision::kHub : number_of(name)));
    CHECK(cells.tier_of(node) == (name == "net" ? 1 : 0));
  }
}

TEST_CASE("cells: devices with links of their own are a cell each; those that share a NIC are a group") {
  const config::SystemConfig dgx = config::resolve_system("dgx_a100");
  for (std::uint32_t node = 0; node < dgx.nodes(); ++node)
    CHECK(cells_of(dgx).of_node[node] == (node < 8 ? node : CellDivision::kHub));
  config::SystemConfig shared = config::resolve_system("compnet_8");
  for (std::uint32_t d = 0; d < 8; ++d) CHECK(serving_groups(shared)[d] == d);
  shared.nics = shared.hosts = 4;
  for (std::uint32_t d = 0; d < 8; ++d) CHECK(serving_groups(shared)[d] == d / 2);
}

}  // namespace
}  // namespace lockstep::gpu
