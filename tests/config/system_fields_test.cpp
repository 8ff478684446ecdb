// Numbers of systems' files: every one is read back at both ends of its range and refused beyond them, with
// its line; and designs of networking have the agents of ComP-Net's paper.
#include "config/system_fields.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "config/network_designs.hpp"
#include "config/network_fields.hpp"
#include "config/system_checks.hpp"
#include "config/value.hpp"
#include "helpers.hpp"
#include "tests/random.hpp"

namespace lockstep::config {
namespace {

using lockstep::test::Random32;

/// A system of a device and a kind of link, whose required numbers are their smallest, in the order of the
/// table; `key` has another value. Line 4 + n has number n.
std::string wire_with(const std::string& key, const std::string& value) {
  std::string text = "[system]\ndevices = v100\n[wire]\n";
  for (const LinkField& field : link_fields()) {
    const std::string& own = field.parameter.key;
    if (own != key && field.optional) continue;
    text += fmt::format("{} = {}\n", own, own == key ? value : std::to_string(field.parameter.min));
  }
  return text;
}

std::size_t line_of(const std::string& text, const std::string& start) {
  const std::size_t at = text.find("\n" + start);
  return 2 + static_cast<std::size_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

std::string refusal_of(const std::string& text) {
  const std::string error = test::error_of([&] { (void)test::read_system(text); });
  const std::size_t name = error.find("s.ini");
  return name == std::string::npos ? "" : error.substr(name);
}

}  // namespace

TEST_CASE("fields of links: both ends of each range are read, and what is beyond is refused with its line") {
  std::set<std::string> keys;
  for (const LinkField& field : link_fields()) {
    const Parameter& p = field.parameter;
    CAPTURE(p.key);
    CHECK(keys.insert(p.key).second);
    CHECK_FALSE(p.help.empty());
    for (const std::uint64_t value : {p.min, p.max}) {
      // A credit of some bytes has to hold the largest message, which is another rule.
      if (p.key.ends_with("credit_bytes") && value != 0 && value < 1024) continue;
      CHECK(field.get(test::read_system(wire_with(p.key, std::to_string(value))).kinds.at(0)) == value);
    }
    std::vector<std::string> beyond{std::to_string(p.max + 1), "-1", "x", "", "1 parsec"};
    if (p.min > 0) beyond.push_back(std::to_string(p.min - 1));
    for (const std::string& value : beyond) {
      const std::string text = wire_with(p.key, value);
      CHECK_THAT(refusal_of(text),
                 Catch::StartsWith(fmt::format("s.ini:{}: {}", line_of(text, p.key + " "), p.key)));
    }
  }
}

TEST_CASE("fields of links: each that a link needs is named where it is not there, with its range") {
  for (const LinkField& field : link_fields()) {
    std::string text = wire_with("", "");
    if (field.optional) continue;
    const std::size_t at = text.find(field.parameter.key + " =");
    text.erase(at, text.find('\n', at) + 1 - at);
    CHECK(refusal_of(text) == fmt::format("s.ini: [wire] has no '{}'; expected {}", field.parameter.key,
                                          expected_text(field.parameter)));
  }
}

TEST_CASE(
    "fields of ports: both ends of each range are read and written back, and what is beyond is refused") {
  for (const PortField& field : port_fields()) {
    const Parameter& p = field.parameter;
    CAPTURE(p.key);
    const auto with = [&](const std::string& value) {
      return "[system]\ndevices = v100\n\n[port]\n" + p.key + " = " + value + "\n";
    };
    for (const std::uint64_t value : {p.min, p.max}) {
      const SystemConfig s = test::read_system(with(std::to_string(value)));
      CHECK(s.*field.field == value);
      CHECK(test::read_system(to_ini(s)).*field.field == value);
    }
    CHECK_THAT(refusal_of(with(std::to_string(p.max + 1))), Catch::StartsWith("s.ini:5: " + p.key + " = "));
    if (p.min > 0)
      CHECK_THAT(refusal_of(with(std::to_string(p.min - 1))), Catch::StartsWith("s.ini:5: " + p.key + " = "));
  }
  CHECK(refusal_of("[system]\ndevices = v100\n[port]\nlane = 4\n") ==
        "s.ini:4: unknown key 'lane'; did you mean 'lanes'?");
}

TEST_CASE(
    "fields of networks: both ends of each range are read, and what is beyond is refused with its line") {
  for (const NetworkField& field : network_fields()) {
    const Parameter& p = field.parameter;
    CAPTURE(field.section, p.key);
    for (const std::uint64_t value : {p.min, p.max}) {
      NetworkConfig config;
      set_network_value(config, field.section, p.key, std::to_string(value));
      CHECK(field.get(config) == value);
    }
    for (const std::string& value : {std::to_string(p.max + 1), std::string("-1"), std::string("many")}) {
      const std::string text =
          "[system]\ndevices = v100\nnics = 1\n[" + field.section + "]\n" + p.key + " = " + value + "\n";
      CHECK_THAT(refusal_of(text), Catch::StartsWith("s.ini:5: " + p.key + " = "));
    }
  }
  CHECK_FALSE(is_network_section("wire"));
  CHECK_FALSE(is_network_section(""));
}

TEST_CASE("random numbers of links and ports survive the text of their system") {
  Random32 random(11);
  for (int round = 0; round < 100; ++round) {
    SystemConfig s = test::read_system(wire_with("", ""));
    for (const LinkField& field : link_fields()) {
      const Parameter& p = field.parameter;
      const std::uint64_t wide = std::uint64_t{random()} << 32 | random();
      field.set(s.kinds[0], p.min + wide % (p.max - p.min + 1));
    }
    s.kinds[0].request_credit_bytes = random() % 2 == 0 ? 0 : largest_message(s.kinds[0]);
    s.kinds[0].reply_credit_bytes = largest_message(s.kinds[0]) + random() % 1000;
    s.kinds[0].model = random() % 3;
    if (s.kinds[0].reply_credit_bytes < largest_message(s.kinds[0])) continue;
    if (s.kinds[0].request_credit_bytes < largest_message(s.kinds[0])) s.kinds[0].request_credit_bytes = 0;
    const SystemConfig again = test::read_system(to_ini(s));
    for (const LinkField& field : link_fields()) CHECK(field.get(again.kinds[0]) == field.get(s.kinds[0]));
    CHECK(again.kinds[0].model == s.kinds[0].model);
    // One byte less than the longest message cannot be sent at all.
    s.kinds[0].reply_credit_bytes = largest_message(s.kinds[0]) - 1;
    CHECK_THAT(refusal_of(to_ini(s)),
               Catch::Contains(fmt::format("[wire] reply_credit_bytes = {} B; expected 0",
                                           largest_message(s.kinds[0]) - 1)));
  }
}

/// LeBeane et al., "ComP-Net", PACT 2018, table 2 and section 5, and docs/networking.md.
TEST_CASE("designs: who serves the queues, where they are, and what is coherent") {
  using Server = NetDesignTraits::Server;
  struct DesignRow {
    NetDesign design;
    const char* name;
    Server server;
    bool queues_on_host, coherent, without_gpu;
  };
  const DesignRow rows[] = {
      {NetDesign::kCompNet, "compnet", Server::kCores, false, false, false},
      {NetDesign::kDgpu, "dgpu", Server::kHostThreads, false, false, false},
      {NetDesign::kDgpuHost, "dgpu_host", Server::kHostThreads, true, false, false},
      {NetDesign::kApu, "apu", Server::kHostThreads, true, true, false},
      {NetDesign::kDirect, "direct", Server::kNic, false, false, false},
      {NetDesign::kInterKernel, "inter_kernel", Server::kProcesses, false, false, false},
      {NetDesign::kCpu, "cpu", Server::kProcesses, false, false, true}};
  REQUIRE(net_designs().size() == std::size(rows));
  for (const DesignRow& row : rows) {
    CAPTURE(row.name);
    CHECK(net_design(row.name) == row.design);
    const NetDesignTraits& found = traits(row.design);
    CHECK((found.name == row.name && found.server == row.server));
    CHECK((found.queues_on_host == row.queues_on_host && found.coherent == row.coherent));
    CHECK(found.without_gpu == row.without_gpu);
  }
  CHECK(test::error_of([] { (void)net_design("comp"); }).find("compnet, dgpu, dgpu_host, apu") !=
        std::string::npos);
}

TEST_CASE("designs: hosts that work are needed, and linked coherently where the design says so") {
  const auto error = [](const std::string& design, const std::string& services, const std::string& edges) {
    return refusal_of("[system]\ndevices = v100\n" + services + "\nswitches = hub\n[node]\ndesign = " +
                      design + "\n" + test::kLink + "[edges]\ngpu0.hub = wire\nnic0.hub = wire\n" + edges);
  };
  const std::string both = "nics = 1\nhosts = 1";
  for (const NetDesignTraits& design : net_designs()) {
    CAPTURE(design.name);
    const std::string name(design.name);
    const bool works = design.server == NetDesignTraits::Server::kHostThreads ||
                       design.server == NetDesignTraits::Server::kProcesses;
    CHECK(error(name, "nics = 1\nhosts = 0", "") ==
          (works ? "s.ini: [node] has design = " + name + "; expected 'hosts' in [system]" : ""));
    const std::string apart = error(name, both, "");
    CHECK(apart.empty() != works);
    CHECK(error(name, both, "host0.hub = wire\ngpu0.host0 = wire\n").empty());
    CHECK(error(name, both, "host0.hub = wire\n").empty() != design.coherent);
  }
  CHECK(refusal_of("[system]\ndevices = v100\nhosts = 1\n") ==
        "s.ini: [system] has 'hosts' without 'nics'; expected both or none");
  CHECK(refusal_of("[system]\ndevices = v100 * 3\nnics = 2\n") ==
        "s.ini: [system] has 3 devices, 0 hosts and 2 NICs; expected as many devices for each of them");
}

}  // namespace lockstep::config
