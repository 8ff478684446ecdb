// Systems with NICs and hosts: nodes, links between them, and the numbers of what serves the network.
#include <catch2/catch.hpp>

#include "config/gpu_models.hpp"
#include "config/network_fields.hpp"
#include "config/system_config.hpp"
#include "helpers.hpp"

namespace lockstep::config {
namespace {

using Catch::Matchers::Contains;
using test::kLink;
using test::read_system;
using test::TemporaryFolder;

constexpr const char* kEdges =
    "[edges]\ngpuN.busN = wire\nnicN.busN = wire\nhostN.busN = wire\nnics.net = wire\n";

std::string head(const std::string& more = "hosts = 2\nnics = 2\nswitches = bus * 2, net\n") {
  return "[system]\ndevices = v100 * 2\n" + more;
}

/// Nodes on the way, both ends included.
std::vector<std::string> way(const SystemConfig& s, std::uint32_t from, std::uint32_t to) {
  const auto routes = s.routes();
  std::vector<std::string> names{s.node_name(from)};
  while (from != to && routes[from][to] != SystemConfig::kNoEdge) {
    const LinkEdge& edge = s.edges[routes[from][to]];
    from = edge.a == from ? edge.b : edge.a;
    names.push_back(s.node_name(from));
  }
  return names;
}

TEST_CASE("Nodes are devices, hosts, NICs and switches; edges may name each by its number") {
  const SystemConfig s = read_system(head() + kLink + kEdges);
  CHECK((s.nodes() == 9 && s.first_host() == 2 && s.first_nic() == 4 && s.endpoints() == 6));
  CHECK(s.edges.size() == 8);
  CHECK(way(s, 0, s.nic_of(0)) == std::vector<std::string>{"gpu0", "bus0", "nic0"});
  CHECK(way(s, s.host_of(1), 1) == std::vector<std::string>{"host1", "bus1", "gpu1"});
  CHECK(way(s, s.nic_of(0), s.nic_of(1)) == std::vector<std::string>{"nic0", "net", "nic1"});
  CHECK(way(s, 0, 1) == std::vector<std::string>{"gpu0"});  // NICs pass nothing on
  CHECK(s.cores() == 2);
}

TEST_CASE("A topology links NICs where there are some") {
  const SystemConfig s = read_system(
      "[system]\ndevices = v100 * 4\nhosts = 4\nnics = 4\nswitches = bus * 4\n[topology]\nkind = ring\nlink "
      "= wire\n" +
      std::string(kLink) + "[edges]\ngpuN.busN = wire\nnicN.busN = wire\nhostN.busN = wire\n");
  CHECK(way(s, s.nic_of(0), s.nic_of(2)) ==
        std::vector<std::string>{"nic0", "router0", "router1", "router2", "nic2"});
}

TEST_CASE("Values of GPUs in a system's file are those of all its devices") {
  const SystemConfig s =
      read_system("[system]\ndevices = v100 * 2\n[devices]\ngpu.sms = 12\nl2.latency = 99\n");
  for (const GpuConfig& device : s.devices) CHECK((device.gpu.sms == 12 && device.l2.latency == 99));
  CHECK(read_system(to_ini(s)).devices[1].l2.latency == 99);
  CHECK_THROWS_WITH(read_system("[system]\ndevices = v100\n[devices]\ngpu.smss = 7\n"),
                    Contains("s.ini:4: 'gpu.smss' is no parameter of a GPU; did you mean 'gpu.sms'?"));
  CHECK_THROWS_WITH(read_system("[system]\ndevices = v100\n[devices]\ngpu.sms = many\n"),
                    Contains("s.ini:4: "));
}

TEST_CASE("Every number of networking can be set, and is written back") {
  std::string text = head() + "[node]\ndesign = dgpu\n" + kLink + kEdges;
  std::string section;
  for (const NetworkField& field : network_fields()) {
    if (field.section != section) text += "[" + (section = field.section) + "]\n";
    const std::uint32_t standard = field.get(NetworkConfig{});
    const auto other =
        static_cast<std::uint32_t>(standard == field.parameter.max ? standard - 1 : standard + 1);
    const bool cache = field.parameter.key.find("bytes") != std::string::npos;  // must go with other keys
    text += field.parameter.key + " = " + std::to_string(cache ? standard : other) + "\n";
  }
  // One way more does not divide the caches.
  for (const char* ways : {"data_ways = 9", "code_ways = 9"})
    text.replace(text.find(ways), 13, std::string(ways, 12) + "4");
  const SystemConfig s = read_system(text);
  CHECK(s.network.node.design == NetDesign::kDgpu);
  CHECK(s.cores() == 0);
  CHECK(s.network.nic.op_occupancy_ps == 100'001);
  CHECK(s.network.host_threads.threads == 3);
  CHECK(to_ini(read_system(to_ini(s))) == to_ini(s));
  for (const NetworkField& field : network_fields()) {
    INFO(field.section << "." << field.parameter.key);
    const bool same = field.parameter.key.find("bytes") != std::string::npos;
    CHECK((field.get(s.network) == field.get(NetworkConfig{})) == same);
    CHECK(field.source.size() > 6);
    CHECK(field.parameter.help.size() > 6);
    const std::uint32_t standard = field.get(NetworkConfig{});
    CHECK((standard >= field.parameter.min && standard <= field.parameter.max));
  }
}

TEST_CASE("A core's memory holds its rings, data and code") {
  NetworkConfig c;
  CHECK(core_memory_bytes(c) == 2 * 256 * 64 + (8 + 64 + 24) * 1024);
  c.nic.queue_entries = 1;  // 64 bytes each, in a line of 128
  c.command_processor.hot_bytes = 129;
  CHECK(core_memory_bytes(c) == 2 * 128 + 256 + (64 + 24) * 1024);
}

TEST_CASE("The first devices keep the hosts and NICs that serve them") {
  const SystemConfig s = resolve_system("compnet_8", 3);
  CHECK((s.hosts == 3 && s.nics == 3));
  CHECK(way(s, s.nic_of(0), s.nic_of(2)) == std::vector<std::string>{"nic0", "net", "nic2"});
  CHECK(way(s, 2, s.host_of(2)) == std::vector<std::string>{"gpu2", "pcie2", "host2"});
  const std::string shared = "[system]\ndevices = v100 * 4\nhosts = 1\nnics = 2\nswitches = net\n" +
                             std::string(kLink) +
                             "[edges]\nall.net = wire\nnics.net = wire\nhosts.net = wire\n";
  CHECK((read_system(shared).nic_of(1) == 5 && read_system(shared).nic_of(2) == 6));
  CHECK_THROWS_WITH(read_system(shared, 2), Contains("--gpus 2: s has 1 hosts and 2 NICs for 4 devices"));
}

TEST_CASE("What is wrong with nodes and their numbers is said") {
  const auto fails = [](const std::string& text, const char* what) {
    CHECK_THROWS_WITH(read_system(text), Contains(what));
  };
  fails(head("hosts = 2\n"), "[system] has 'hosts' without 'nics'; expected both or none");
  fails(head("hosts = 2\nnics = 3\nswitches = net\n"), "2 devices, 2 hosts and 3 NICs");
  fails(head("nics = 2\nswitches = bus * 2, net\n[node]\ndesign = dgpu\n") + kLink +
            "[edges]\ngpuN.busN = wire\nnicN.busN = wire\nnics.net = wire\n",
        "[node] has design = dgpu; expected 'hosts' in [system]");
  fails(head("nics = 2\nswitches = bus * 2, net\n[node]\ndesign = inter_kernel\n") + kLink +
            "[edges]\ngpuN.busN = wire\nnicN.busN = wire\nnics.net = wire\n",
        "[node] has design = inter_kernel; expected 'hosts' in [system]");
  fails(head() + "[node]\ndesign = gpu\n",
        "s.ini:7: found 'gpu', expected one of compnet, dgpu, dgpu_host, apu, direct, inter_kernel, cpu");
  fails(head() + "[node]\ndesign = apu\n" + kLink + kEdges,
        "[node] has design = apu, in which device and host share coherent memory; expected a link between "
        "gpu0 and "
        "host0 in [edges]");
  fails(head() + "[nic]\noperation = 3\n", "unknown key 'operation'; did you mean 'operations'?");
  fails(head() + "[nic]\noperations = 0\n", "s.ini:7: ");
  fails("[system]\ndevices = v100\n[nic]\noperations = 3\n", "says nothing of a system without NICs");
  fails(head() + kLink + "[edges]\ngpuN.busN = wire\nnics.net = wire\n", "no links lead from gpu0 to nic0");
  fails(head() + kLink + "[edges]\ngpuN.nicN = wire\nhostN.nicN = wire\n", "no links lead from nic0 to nic1");
  fails(head() + kLink + "[edges]\ngpuN.xN = wire\n", "'gpuN.xN' names no nodes");
  fails(head() + kLink + "[edges]\ngpu0.nic7 = wire\n",
        "'nic7' is not a node; expected gpu0 to gpu1, all, hosts, nics");
  fails(head() + kLink + kEdges + "[command_processor]\ndata_ways = 7\n",
        "command_processor.data_bytes is 32768, expected a multiple of command_processor.data_ways (7)");
  for (const char* name : {"nic0", "host12", "nics", "hosts", "service"})
    fails("[system]\ndevices = v100\nswitches = " + std::string(name) + "\n", "cannot be a switch's name");
  CHECK(read_system("[system]\ndevices = v100\nswitches = nicer, hostess\n").switches.size() == 2);
}

}  // namespace
TEST_CASE("compnet_64 is compnet_8 with 64 nodes") {
  const auto values = [](const char* name, const char* nodes) {
    std::string text(*embedded_system(name));
    text.erase(0, text.find("[system]"));
    for (const char* before : {"a100 * ", "hosts = ", "nics = ", "pcie * "}) {
      const std::size_t at = text.find(before) + std::string_view(before).size();
      REQUIRE(text.compare(at, std::string_view(nodes).size(), nodes) == 0);
      text.replace(at, std::string_view(nodes).size(), "N");
    }
    return text;
  };
  CHECK(values("compnet_64", "64") == values("compnet_8", "8"));
  CHECK(resolve_system("compnet_64").devices.size() == 64);
}

}  // namespace lockstep::config
