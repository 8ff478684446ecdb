// Ways between nodes of random systems against shortest distances, and which nodes serve a device.
#include <catch2/catch.hpp>
#include <random>

#include "config/system_config.hpp"
#include "helpers.hpp"

namespace lockstep::config {
namespace {

constexpr unsigned kFar = 1000;
using Distances = std::vector<std::vector<unsigned>>;

/// Floyd and Warshall; only switches are passed through.
Distances distances_of(const SystemConfig& s) {
  Distances d(s.nodes(), std::vector<unsigned>(s.nodes(), kFar));
  for (std::uint32_t n = 0; n < s.nodes(); ++n) d[n][n] = 0;
  for (const LinkEdge& e : s.edges) d[e.a][e.b] = d[e.b][e.a] = 1;
  for (std::uint32_t via = s.endpoints(); via < s.nodes(); ++via)
    for (std::uint32_t a = 0; a < s.nodes(); ++a)
      for (std::uint32_t b = 0; b < s.nodes(); ++b) d[a][b] = std::min(d[a][b], d[a][via] + d[via][b]);
  return d;
}

TEST_CASE("ways of random systems take the fewest links, and lead through no endpoint") {
  std::mt19937 random(2);
  unsigned unreachable = 0, long_ways = 0;
  for (int round = 0; round < 300; ++round) {
    SystemConfig s;
    s.devices.resize(2 + random() % 4);
    s.hosts = static_cast<std::uint32_t>(random() % 2 ? s.devices.size() : 0);
    s.nics = s.hosts;
    s.switches.resize(random() % 6);
    for (std::uint32_t a = 0; a < s.nodes(); ++a)
      for (std::uint32_t b = a + 1; b < s.nodes(); ++b)
        if (random() % 4 == 0) s.edges.push_back(random() % 2 ? LinkEdge{a, b} : LinkEdge{b, a});
    const auto routes = s.routes();
    const Distances d = distances_of(s);
    REQUIRE(routes.size() == s.nodes());
    for (std::uint32_t from = 0; from < s.nodes(); ++from)
      for (std::uint32_t to = 0; to < s.endpoints(); ++to) {
        if (from == to || d[from][to] >= kFar) {
          REQUIRE(routes[from][to] == SystemConfig::kNoEdge);
          unreachable += from != to;
          continue;
        }
        // A step at a time the target comes nearer.
        const LinkEdge& e = s.edges.at(routes[from][to]);
        REQUIRE((e.a == from || e.b == from));
        const std::uint32_t next = e.a == from ? e.b : e.a;
        REQUIRE((next == to || next >= s.endpoints()));
        REQUIRE(d[next][to] == d[from][to] - 1);
        long_ways += d[from][to] > 2;
      }
  }
  CHECK(unreachable > 100);
  CHECK(long_ways > 100);
}

TEST_CASE("of equal ways the one over the edge that is listed first is taken") {
  SystemConfig s;
  s.devices.resize(2);
  s.switches = {"left", "right"};
  s.edges = {{0, 3}, {0, 2}, {1, 2}, {1, 3}};
  const auto routes = s.routes();
  // From the target's side: device 1's first edge is to node 2, over which device 0 is reached first.
  CHECK(routes[0][1] == 1);
  CHECK(routes[1][0] == 3);
}

TEST_CASE("hosts and NICs serve as many devices each, one after another") {
  SystemConfig s;
  s.devices.resize(8);
  s.hosts = 2;
  s.nics = 4;
  s.switches = {"net"};
  for (std::uint32_t d = 0; d < 8; ++d) {
    CHECK(s.host_of(d) == 8 + d / 4);
    CHECK(s.nic_of(d) == 10 + d / 2);
  }
  CHECK(s.nodes() == 15);
  const char* names[] = {"gpu0", "gpu7", "host0", "host1", "nic0", "nic3", "net"};
  const std::uint32_t nodes[] = {0, 7, 8, 9, 10, 13, 14};
  for (std::size_t i = 0; i < std::size(names); ++i) CHECK(s.node_name(nodes[i]) == names[i]);
}

TEST_CASE("where each design's queues are served and its data lie") {
  struct Design {
    const char* name;
    std::uint32_t cores;
    bool working_hosts, queues_on_host, coherent, data_on_host;
  };
  // LeBeane et al., PACT 2018, section 5; `direct` as IBGDA of NVSHMEM.
  const Design designs[] = {
      {"compnet", 2, false, false, false, false}, {"dgpu", 0, true, false, false, false},
      {"dgpu_host", 0, true, true, false, false}, {"apu", 0, true, true, true, false},
      {"direct", 0, false, false, false, false},  {"inter_kernel", 0, true, false, false, false},
      {"cpu", 0, true, false, false, true}};
  CHECK(net_designs().size() == std::size(designs));
  for (const Design& design : designs) {
    CAPTURE(design.name);
    SystemConfig s;
    s.devices.resize(2);
    s.hosts = s.nics = 2;
    s.network.node.design = net_design(design.name);
    CHECK(traits(s.network.node.design).name == design.name);
    CHECK(s.cores() == design.cores);
    CHECK(s.has_working_hosts() == design.working_hosts);
    CHECK(traits(s.network.node.design).queues_on_host == design.queues_on_host);
    CHECK(traits(s.network.node.design).coherent == design.coherent);
    CHECK(s.memory_of(1) == (design.data_on_host ? 3 : 1));
    s.hosts = s.nics = 0;  // without NICs the design says nothing
    CHECK(s.cores() == 0);
    CHECK_FALSE(s.has_working_hosts());
    CHECK(s.memory_of(1) == 1);
  }
}

TEST_CASE("a system of one model without links has its name") {
  const SystemConfig s = unlinked_system(resolve_system("dgx_a100").devices[0], 3);
  CHECK(s.name == "a100");
  CHECK((s.devices.size() == 3 && s.edges.empty() && s.linked()));
  CHECK_FALSE(unlinked_system(s.devices[0], 1).linked());
  CHECK(s.routes()[0][1] == SystemConfig::kNoEdge);
}

}  // namespace
}  // namespace lockstep::config
