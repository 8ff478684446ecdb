// Generated topologies: what they link, and hops against closed forms.
#include "config/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "config/system_config.hpp"
#include "helpers.hpp"
#include "util/error.hpp"

namespace lockstep::config {
namespace {

using Catch::Matchers::Contains;
using test::TemporaryFolder;

SystemConfig read(std::uint32_t devices, const std::string& topology, const std::string& more = "") {
  const TemporaryFolder folder;
  return resolve_system(folder.write(
      "s.ini", fmt::format("[system]\ndevices = v100 * {}\n{}"
                           "[wire]\nbytes_per_second = 10 GB/s\nlatency_ps = 100 ns\npacket_bytes = 256\n"
                           "header_bytes = 16\nstore_bytes = 0\nack_bytes = 1\n[topology]\n{}",
                           devices, more, topology)));
}

/// Links on the way of a message from one device to another.
std::uint32_t hops(const SystemConfig& s, const std::vector<std::vector<std::uint32_t>>& routes,
                   std::uint32_t from, std::uint32_t to) {
  std::uint32_t node = from, count = 0;
  for (; node != to && count < 1000; ++count) {
    const std::uint32_t e = routes[node][to];
    REQUIRE(e != SystemConfig::kNoEdge);
    node = s.edges[e].a == node ? s.edges[e].b : s.edges[e].a;
  }
  return count;
}

template <class Expected>
void check_hops(const SystemConfig& s, Expected&& expected) {
  const auto devices = static_cast<std::uint32_t>(s.devices.size());
  const auto routes = s.routes();
  for (std::uint32_t a = 0; a < devices; ++a)
    for (std::uint32_t b = 0; b < devices; ++b) {
      INFO("from " << a << " to " << b);
      if (a != b) CHECK(hops(s, routes, a, b) == expected(a, b));
    }
}

/// Steps between positions on a circle of n.
std::uint32_t around(std::uint32_t a, std::uint32_t b, std::uint32_t n) {
  const std::uint32_t d = a > b ? a - b : b - a;
  return std::min(d, n - d);
}

TEST_CASE("Topologies: a full mesh and a star") {
  const SystemConfig mesh = read(6, "kind = full_mesh\nlink = wire * 2\n");
  CHECK(mesh.edges.size() == 6 * 5 / 2);
  CHECK(mesh.edges[3].count == 2);
  check_hops(mesh, [](auto, auto) { return 1u; });
  const SystemConfig star = read(6, "kind = star\nattach = wire * 3\n", "[hub]\nmulticast = true\n");
  CHECK(star.edges.size() == 6);
  CHECK(star.edges[5].count == 3);
  CHECK(star.multicast_switches(4) == std::vector<std::uint32_t>{0});
  check_hops(star, [](auto, auto) { return 2u; });
}

TEST_CASE("Topologies: a ring's hops go the shorter way round") {
  for (const std::uint32_t n : {2u, 3u, 8u, 13u}) {
    const SystemConfig ring = read(n, "kind = ring\nlink = wire\nattach = wire * 4\n");
    CHECK(ring.edges.size() == n + (n == 2 ? 1 : n));
    check_hops(ring, [&](std::uint32_t a, std::uint32_t b) { return 2 + around(a, b, n); });
  }
}

TEST_CASE("Topologies: a torus' hops are those of a row and a column") {
  const SystemConfig torus = read(64, "kind = torus2d\ncolumns = 8\nlink = wire\n");
  CHECK(torus.edges.size() == 64 + 2 * 64);
  check_hops(torus, [](std::uint32_t a, std::uint32_t b) {
    return 2 + around(a % 8, b % 8, 8) + around(a / 8, b / 8, 8);
  });
  const SystemConfig narrow = read(6, "kind = torus2d\ncolumns = 2\nlink = wire\n");
  CHECK(narrow.edges.size() == 6 + 3 + 6);  // rows of two have one link
}

TEST_CASE("Topologies: a fat tree's hops are two at a leaf and four beyond") {
  const SystemConfig tree = read(14, "kind = fat_tree\nleaf_devices = 4\nspines = 3\nlink = wire\n");
  CHECK(tree.switches.size() == 4 + 3);
  CHECK(tree.edges.size() == 14 + 4 * 3);
  check_hops(tree, [](std::uint32_t a, std::uint32_t b) { return a / 4 == b / 4 ? 2u : 4u; });
}

TEST_CASE("Topologies: a dragonfly's hops are at most one in each group and one between groups") {
  // Groups of 3 switches with 2 devices: 4 groups, so each switch has one link to another group.
  const SystemConfig fly = read(24, "kind = dragonfly\nrouter_devices = 2\ngroup_routers = 3\nlink = wire\n");
  CHECK(fly.switches.size() == 12);
  CHECK(fly.edges.size() == 24 + 4 * 3 + 4 * 3 / 2);
  const auto exit = [](std::uint32_t from, std::uint32_t to) { return to < from ? to : to - 1; };
  check_hops(fly, [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t ra = a / 2, rb = b / 2, ga = ra / 3, gb = rb / 3;
    if (ra == rb) return 2u;
    if (ga == gb) return 3u;
    return 3u + (ra % 3 != exit(ga, gb)) + (rb % 3 != exit(gb, ga));
  });
}

TEST_CASE("Topologies: every one reads back from the text of its system, and switches of one's own stay") {
  const char* topologies_text[] = {
      "kind = full_mesh\nlink = wire\n",
      "kind = star\nlink = wire\n",
      "kind = ring\nlink = wire\n",
      "kind = torus2d\ncolumns = 4\nlink = wire\n",
      "kind = fat_tree\nleaf_devices = 3\nspines = 2\nlink = wire\n",
      "kind = dragonfly\nrouter_devices = 2\ngroup_routers = 2\nlink = wire\n",
  };
  CHECK(std::size(topologies_text) == topologies().size());
  for (const char* text : topologies_text) {
    const SystemConfig system = read(8, text, "switches = own\n[edges]\ngpu0.own = wire\n");
    CHECK(system.switches.front() == "own");
    const TemporaryFolder folder;
    const SystemConfig again = resolve_system(folder.write("again.ini", to_ini(system)));
    CHECK(to_ini(again) == to_ini(system));
    CHECK(again.edges.size() == system.edges.size());
  }
}

TEST_CASE("Topologies: what is wrong is said with its line") {
  const auto fails = [](const std::string& topology, const std::string& message) {
    CHECK_THROWS_WITH(read(6, topology), Contains(message));
  };
  fails("kind = hypercube\n",
        "'hypercube' is no topology; expected one of full_mesh, star, ring, torus2d, fat_tree, dragonfly");
  fails("link = wire\n", "[topology] has no 'kind'");
  fails("kind = ring\n", "[topology] has no");
  fails("kind = full_mesh\nlink = wire\nattach = wire * 9\n", "attaches no device to a switch");
  fails("kind = star\nlink = rope\nattach = wire\n", "'rope' is not a kind of link");
  fails("kind = ring\nlink = rope\n", "s.ini:12: 'rope' is not a kind of link");
  fails("kind = torus2d\nlink = wire\n", "[topology] has no 'columns', which torus2d needs");
  fails("kind = torus2d\ncolumns = 4\nlink = wire\n", "6 devices do not fill rows of 4");
  fails("kind = torus2d\ncolumns = 0\nlink = wire\n", "s.ini:12:");
  fails("kind = dragonfly\nrouter_devices = 2\ngroup_routers = 2\nlink = wire\n",
        "6 devices do not fill groups of 4");
  fails("kind = ring\nlink = wire\ncolumns = 2\n", "unknown key 'columns'");
  CHECK_THROWS_AS(read(6, "kind = ring\nlink = wire\n", "switches = router3\n"), InputError);
}

}  // namespace
}  // namespace lockstep::config
