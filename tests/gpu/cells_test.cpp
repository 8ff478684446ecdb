// Which nodes of a system belong together.
#include "gpu/cells.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "config/system_config.hpp"
#include "sim/cell_plan.hpp"

namespace lockstep::gpu {
namespace {

using sim::CellDivision;

TEST_CASE("cells: a device is with its host, NIC and PCI Express switch; the network's switch is the hub") {
  const config::SystemConfig system = config::resolve_system("compnet_8");
  const auto cells = cells_of(system);
  REQUIRE(cells.size() == system.nodes());
  for (std::uint32_t node = 0; node < system.nodes(); ++node) {
    const std::string name = system.node_name(node);
    CAPTURE(name);
    CHECK(cells[node] ==
          (name == "net" ? CellDivision::kHub : static_cast<std::uint32_t>(name.back() - '0')));
  }
}

TEST_CASE("cells: devices with links of their own are a cell each; those that share a NIC are one") {
  const config::SystemConfig dgx = config::resolve_system("dgx_a100");
  for (std::uint32_t node = 0; node < dgx.nodes(); ++node)
    CHECK(cells_of(dgx)[node] == (node < 8 ? node : CellDivision::kHub));
  config::SystemConfig shared = config::resolve_system("compnet_8");
  for (std::uint32_t d = 0; d < 8; ++d) CHECK(serving_groups(shared)[d] == d);
  shared.nics = shared.hosts = 4;
  for (std::uint32_t d = 0; d < 8; ++d) CHECK(serving_groups(shared)[d] == d / 2);
}

}  // namespace
}  // namespace lockstep::gpu
