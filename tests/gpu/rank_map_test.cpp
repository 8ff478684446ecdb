// How a system's nodes are spread over processes: what holds for every system and number of processes.
#include "gpu/rank_map.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/random.hpp"
#include "tests/temporary_folder.hpp"
#include "util/error.hpp"

namespace lockstep::test {
namespace {

using config::SystemConfig;

/// Devices with one NIC, or one host, must not be separated.
std::size_t groups_by_hand(const SystemConfig& system) {
  std::vector<std::size_t> group(system.devices.size());
  for (std::size_t d = 0; d < group.size(); ++d) group[d] = d;
  for (std::uint32_t a = 0; a < group.size(); ++a)
    for (std::uint32_t b = 0; b < a; ++b)
      if ((system.nics > 0 && system.nic_of(a) == system.nic_of(b)) ||
          (system.hosts > 0 && system.host_of(a) == system.host_of(b)))
        std::ranges::replace(group, group[a], group[b]);
  return std::set(group.begin(), group.end()).size();
}

void check_spread(const SystemConfig& system, sim::Rank ranks, const std::vector<sim::Rank>& of_node) {
  REQUIRE(of_node.size() == system.nodes());
  std::map<sim::Rank, unsigned> devices;
  for (std::uint32_t d = 0; d < system.devices.size(); ++d) {
    ++devices[of_node[d]];
    if (d > 0) CHECK(of_node[d] >= of_node[d - 1]);  // in rows
    if (system.nics > 0) CHECK(of_node[system.nic_of(d)] == of_node[d]);
    if (system.hosts > 0) CHECK(of_node[system.host_of(d)] == of_node[d]);
  }
  CHECK(devices.size() == ranks);
  const auto most = std::ranges::max_element(devices, {}, [](const auto& e) { return e.second; });
  const auto least = std::ranges::min_element(devices, {}, [](const auto& e) { return e.second; });
  const std::size_t each = system.devices.size() / groups_by_hand(system);
  CHECK(most->second - least->second <= each);
  // A switch is in the rank of a node that it is linked with, if there is any.
  for (std::uint32_t s = system.endpoints(); s < system.nodes(); ++s) {
    bool linked = false, same = false;
    for (const config::LinkEdge& edge : system.edges) {
      if (edge.a != s && edge.b != s) continue;
      linked = true;
      same = same || of_node[edge.a == s ? edge.b : edge.a] == of_node[s];
    }
    CHECK((!linked || same));
  }
}

}  // namespace

TEST_CASE("Every system is spread evenly over any number of processes, and no node of it is divided") {
  for (const auto& bundled : config::systems()) {
    const std::string name(bundled.name);
    const SystemConfig system = config::resolve_system(name);
    const auto groups = static_cast<sim::Rank>(groups_by_hand(system));
    for (sim::Rank ranks = 1; ranks <= groups; ++ranks) {
      CAPTURE(name, ranks);
      check_spread(system, ranks, gpu::spread(system, ranks));
    }
    CHECK_THROWS_AS(gpu::spread(system, groups + 1), UserError);
  }
}

TEST_CASE("A map that is written for a spread, in any order of lines, is read as that spread") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "map").string();
  Random32 random(3);
  for (const char* name : {"dgx_a100", "compnet_8", "pcie_4"}) {
    const SystemConfig system = config::resolve_system(name);
    for (const sim::Rank ranks : {1u, 2u, 4u}) {
      const std::vector<sim::Rank> of_node = gpu::spread(system, ranks);
      std::vector<std::string> lines{"# a comment", "", "   "};
      for (std::uint32_t node = 0; node < system.nodes(); ++node)
        if (node < system.first_host() || node >= system.endpoints())
          lines.push_back(" " + system.node_name(node) + "\t" + std::to_string(of_node[node]) + " # ours");
      std::shuffle(lines.begin(), lines.end(), random);
      std::ofstream out(file);
      for (const std::string& line : lines) out << line << '\n';
      out.close();
      CHECK(gpu::read_rank_map(file, system, ranks) == of_node);
    }
  }
  CHECK_THROWS_WITH(
      gpu::read_rank_map((folder.path() / "none").string(), config::resolve_system("dgx_a100"), 2),
      Catch::EndsWith("/none: cannot be read"));
}

}  // namespace lockstep::test
