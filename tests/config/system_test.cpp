// Systems of several devices: what ships, what files may say, and ways between nodes.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "config/gpu_models.hpp"
#include "config/ini.hpp"
#include "config/system_config.hpp"
#include "helpers.hpp"

namespace lockstep::config {
namespace {

using Catch::Matchers::Contains;
using test::kLink;
using test::read_system;
using test::TemporaryFolder;

std::uint64_t bandwidth(const SystemConfig& s, std::uint32_t a, std::uint32_t b) {
  for (const LinkEdge& e : s.edges)
    if (std::minmax(e.a, e.b) == std::minmax(a, b)) return s.kinds[e.kind].bytes_per_second * e.count;
  return 0;
}

TEST_CASE("The systems that ship have the links of their data sheets") {
  const SystemConfig a100 = resolve_system("dgx_a100");
  CHECK(a100.devices.size() == 8);
  CHECK(a100.devices[7].gpu.name == "a100");
  for (std::uint32_t d = 0; d < 8; ++d)
    CHECK(bandwidth(a100, d, 8) == 300'000'000'000);  // NVIDIA: 600 GB/s, both ways
  const SystemConfig direct = resolve_system("hgx_a100_4");
  CHECK(direct.edges.size() == 6);
  for (const LinkEdge& e : direct.edges) CHECK(e.count == 4);
  const SystemConfig h100 = resolve_system("dgx_h100");
  CHECK(h100.multicast.contains("nvswitch"));
  CHECK((h100.devices.size() == 8 && h100.devices[7].gpu.name == "h100_sxm"));
  for (std::uint32_t d = 0; d < 8; ++d)
    CHECK(bandwidth(h100, d, 8) == 450'000'000'000);  // NVIDIA: 900 GB/s, both ways
  const SystemConfig grace = resolve_system("gh200_4");
  CHECK((grace.devices.size() == 4 && grace.devices[3].gpu.name == "gh200"));
  CHECK(grace.edges.size() == 6);
  for (std::uint32_t d = 1; d < 4; ++d) CHECK(3 * bandwidth(grace, 0, d) == 450'000'000'000);
  const SystemConfig pcie = resolve_system("pcie_4");
  CHECK(pcie.devices.size() == 4);
  CHECK(pcie.edges.size() == 6);
}

TEST_CASE("A DGX-1's mesh: six links at every V100, four neighbours, two steps to everybody") {
  const SystemConfig dgx1 = resolve_system("dgx1_v100");
  std::map<std::uint32_t, std::uint32_t> links, neighbours;
  for (const LinkEdge& e : dgx1.edges)
    for (const std::uint32_t end : {e.a, e.b}) {
      links[end] += e.count;
      ++neighbours[end];
    }
  for (std::uint32_t d = 0; d < 8; ++d) {
    CHECK(links[d] == 6);
    CHECK(neighbours[d] == 4);
  }
  const auto routes = dgx1.routes();
  unsigned without = 0;
  for (std::uint32_t a = 0; a < 8; ++a)
    for (std::uint32_t b = 0; b < 8; ++b) without += a != b && routes[a][b] == SystemConfig::kNoEdge;
  CHECK(without == 8 * 3);  // devices pass nothing on
}

TEST_CASE("Ways lead over switches and over the fewest links") {
  const SystemConfig pcie =
      resolve_system("pcie_4");  // gpu0, gpu1 at node 4, gpu2, gpu3 at node 5, root is node 6
  const auto routes = pcie.routes();
  const auto other_end = [&](std::uint32_t node, std::uint32_t edge) {
    return pcie.edges[edge].a == node ? pcie.edges[edge].b : pcie.edges[edge].a;
  };
  const auto steps = [&](std::uint32_t from, std::uint32_t to) {
    unsigned count = 0;
    for (std::uint32_t node = from; node != to; ++count) node = other_end(node, routes[node][to]);
    return count;
  };
  CHECK(steps(0, 1) == 2);
  CHECK(steps(0, 2) == 4);
  CHECK(steps(3, 1) == 4);
}

TEST_CASE("The first devices of a system keep their links") {
  const SystemConfig pcie = resolve_system("pcie_4", 3);
  CHECK(pcie.devices.size() == 3);
  CHECK(pcie.edges.size() == 5);
  const auto routes = pcie.routes();
  CHECK(routes[0][2] != SystemConfig::kNoEdge);
  CHECK_THROWS_WITH(resolve_system("pcie_4", 5), Contains("--gpus 5: pcie_4 has 4 devices"));
}

TEST_CASE("A file describes a system of different devices; --set is for all of them") {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "s.ini",
      std::string("[system]\nname = mine\ndevices = a100 * 2, v100\nswitches = hub\n[port]\nlanes = 2\n") +
          kLink + "[edges]\nall.hub = wire * 2\ngpu0.gpu1 = wire\n");
  CHECK(means_system(file));
  const SystemConfig s = resolve_system(file, 0, {"l1.hit_latency=40"});
  CHECK(s.name == "mine");
  REQUIRE(s.devices.size() == 3);
  CHECK(s.devices[2].gpu.name == "v100");
  for (const GpuConfig& device : s.devices) CHECK(device.l1.hit_latency == 40);
  CHECK(s.port_lanes == 2);
  CHECK(s.edges.size() == 4);
  CHECK(bandwidth(s, 0, 1) == 10'000'000'000);
  CHECK(s.kinds[0].latency_ps == 100'000);
  CHECK_THROWS_WITH(resolve_system(file, 0, {"wire.latency_ps=1"}),
                    "--set 'wire.latency_ps=1': unknown key 'wire.latency_ps'; did you mean "
                    "'dram.latency_ps'? (of a system, --set changes the GPUs)");
  CHECK_THROWS_WITH(resolve_system(file, 0, {"l1.hit_latency=x"}),
                    Catch::StartsWith("--set 'l1.hit_latency=x'"));
  CHECK_FALSE(means_system("a100"));
  CHECK_FALSE(means_system(folder.write("gpu.ini", "include = a100\n")));
}

TEST_CASE("A switch's section says whether it multicasts") {
  const std::string head =
      "[hub]\nmulticast = true\n[system]\ndevices = a100 * 2, v100\nswitches = hub, other\n";
  const std::string edges =
      "[edges]\ngpu0.hub = wire\ngpu1.other = wire\ngpu2.hub = wire\ngpu2.other = wire\n";
  const SystemConfig s = read_system(head + kLink + edges);
  CHECK(s.multicast_switches(0) == std::vector<std::uint32_t>{0});
  CHECK(s.multicast_switches(1).empty());
  CHECK(s.multicast_switches(2) == std::vector<std::uint32_t>{0});
  CHECK(read_system(head + "[other]\nmulticast = true\n" + kLink + edges).multicast_switches(2) ==
        std::vector<std::uint32_t>{0, 1});
  CHECK(read_system(head + "[other]\nmulticast = false\n" + kLink + edges).multicast_switches(1).empty());
  CHECK(to_ini(s).find("[hub]\nmulticast = true\n") != std::string::npos);
  CHECK_THROWS_WITH(read_system(head + "[other]\nmulticast = yes\n" + kLink + edges),
                    Contains("s.ini:7: found 'yes', expected true or false"));
  CHECK_THROWS_WITH(read_system(head + "[other]\nmulticasts = true\n" + kLink + edges),
                    Contains("unknown key 'multicasts'"));
}

TEST_CASE("Every file of systems/ is registered, and every number of its links has its source") {
  std::set<std::string_view> files, listed;
  for (const BundledConfig& model : systems()) listed.insert(model.name);
  for (const EmbeddedIni& ini : embedded_system_inis()) {
    files.insert(ini.name);
    unsigned numbers = 0;
    for (const Assignment& a : parse_ini(ini.text, std::string(ini.name)).assignments) {
      if (a.key.starts_with("system.") || a.key.starts_with("edges.")) continue;
      INFO(ini.name << ": " << a.key);
      CHECK(a.note.size() > 10);
      ++numbers;
    }
    CHECK(numbers >= 6);
  }
  CHECK(files == listed);
}

TEST_CASE("A device's file is looked for beside the system's") {
  const TemporaryFolder folder;
  folder.write("mine.ini", "include = a100\n[gpu]\nname = mine\n[l1]\nhit_latency = 41\n");
  const SystemConfig s = resolve_system(folder.write("s.ini", "[system]\ndevices = mine.ini * 2, v100\n"));
  REQUIRE(s.devices.size() == 3);
  CHECK((s.devices[1].gpu.name == "mine" && s.devices[1].l1.hit_latency == 41));
}

TEST_CASE("PCI Express orders replies, other kinds of links do not") {
  for (const BundledConfig& model : systems())
    for (const LinkKind& kind : resolve_system(std::string(model.name)).kinds) {
      INFO(model.name << " " << kind.name);
      CHECK((kind.ordered_replies == 1) == kind.name.starts_with("pcie"));
    }
}

TEST_CASE("A system's text reads back as the same system") {
  for (const BundledConfig& model : systems()) {
    const SystemConfig s = resolve_system(std::string(model.name));
    const SystemConfig again = read_system(to_ini(s));
    CHECK(to_ini(again) == to_ini(s));
    CHECK(again.edges.size() == s.edges.size());
    CHECK(again.kinds[0].bytes_per_second == s.kinds[0].bytes_per_second);
    CHECK(again.routes() == s.routes());
  }
}

TEST_CASE("What is wrong in a system's file is said with its line") {
  const std::string system = "[system]\ndevices = a100 * 2\n";
  const auto fails = [](const std::string& text, const std::string& with) {
    CHECK_THROWS_WITH(read_system(text), Contains(with));
  };
  fails(std::string(kLink), "[system] has no 'devices'");
  fails("[system]\ndevices = a1000\n", "s.ini:2: 'a1000' is neither a GPU model");
  fails("[system]\ndevices = a100 * 65\n", "s.ini:2: more than 64 devices");
  fails("[system]\ndevices = a100 * x\n", "s.ini:2: the count = 'x' is not a number");
  fails("[system]\ndevice = a100\n", "s.ini:2: unknown key 'device'; did you mean 'devices'?");
  fails("[system]\ndevices = a100\nswitches = gpu7\n", "'gpu7' cannot be a switch's name");
  fails("[system]\ndevices = a100\nswitches = hub, hub\n", "two switches 'hub'");
  fails(system + "[wire]\nbytes_per_second = 1 GB/s\n", "[wire] has no 'latency_ps'; expected 20000 to");
  fails(system + "[wire]\nlatency = 1 ns\n", "s.ini:4: unknown key 'latency'; did you mean 'latency_ps'?");
  fails(
      system + kLink + "request_credit_bytes = 143\n",
      "[wire] request_credit_bytes = 143 B; expected 0, for enough, or at least 144 B, the largest message");
  fails(system + kLink + "reply_credit_bytes = 1\n", "[wire] reply_credit_bytes = 1 B; expected 0");
  fails(system + kLink + "reply_credit_bytes = many\n", "reply_credit_bytes = 'many'");
  fails(system + kLink + "ordered_replies = 2\n", "ordered_replies = 2");
  fails(system + kLink + "[edges]\ngpu0.gpu2 = wire\n", "'gpu2' is not a node; expected gpu0 to gpu1");
  fails(system + kLink + "[edges]\ngpu0.gpu1 = rope\n", "'rope' is not a kind of link");
  fails(system + kLink + "[edges]\ngpu0.gpu0 = wire\n", "a link from a node to itself");
  fails(system + kLink + "[edges]\ngpu0.gpu1 = wire\nall.all = wire\n", "two nodes are linked twice");
  fails(system + kLink + "[edges]\ngpu0 = wire\n", "expected two nodes, such as gpu0.gpu1");
  fails("include = a100\n" + system, "a system includes nothing");
  fails("devices = a100\n[system]\ndevices = a100\n", "stands in no section");
  fails(system + "devices = a100\n", "duplicate key 'devices'");
}

}  // namespace
}  // namespace lockstep::config
