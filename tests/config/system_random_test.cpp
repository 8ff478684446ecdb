// Random systems' files against a model of their nodes by name: links, what is refused and where, what
// remains of the first devices, and the text that is written.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "config/system_config.hpp"
#include "config/system_names.hpp"
#include "helpers.hpp"
#include "tests/random.hpp"

namespace lockstep::config {
namespace {

using lockstep::test::Random32;
using Names = std::vector<std::string>;
using NamePair = std::pair<std::string, std::string>;
using Links = std::map<NamePair, std::pair<std::string, std::uint32_t>>;  // kind and count, by ends

NamePair ordered(std::string a, std::string b) {
  if (b < a) std::swap(a, b);
  return {std::move(a), std::move(b)};
}

/// A file with the nodes and links that it means.
struct NamedSystem {
  Names devices, hosts, nics, switches, kinds;
  Links links;
  std::string text;
  std::optional<std::size_t> twice;  // the line that links two nodes again

  [[nodiscard]] Names endpoints() const {
    Names all = devices;
    all.insert(all.end(), hosts.begin(), hosts.end());
    all.insert(all.end(), nics.begin(), nics.end());
    return all;
  }
};

Names numbered_names(const std::string& stem, std::uint32_t count) {
  Names names;
  for (std::uint32_t i = 0; i < count; ++i) names.push_back(stem + std::to_string(i));
  return names;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

class SystemMaker {
 public:
  explicit SystemMaker(std::uint32_t seed) : random_(seed) {}

  NamedSystem make() {
    system_ = {};
    const std::uint32_t services = below(3);  // 0: no network
    const std::uint32_t devices = services == 0 ? 1 + below(6) : services * (1 + below(3));
    system_.devices = numbered_names("gpu", devices);
    system_.hosts = numbered_names("host", services);
    system_.nics = numbered_names("nic", services);
    system_.switches = numbered_names("bus", below(3));
    if (below(2) == 0) system_.switches.emplace_back("hub");
    head(devices, services);
    for (std::uint32_t k = 0, n = 1 + below(3); k < n; ++k) {
      system_.kinds.push_back(fmt::format("wire{}", k));
      std::string section = test::kLink;
      section.replace(section.find("wire"), 4, system_.kinds.back());
      system_.text += section;
    }
    system_.text += "[edges]\n";
    for (std::uint32_t i = 2 + below(8); i > 0 && !system_.twice; --i) edges();
    return system_;
  }

 private:
  std::uint32_t below(std::uint32_t n) { return random_() % n; }
  const std::string& one_of(const Names& names) {
    return names[below(static_cast<std::uint32_t>(names.size()))];
  }

  void head(std::uint32_t devices, std::uint32_t services) {
    const std::uint32_t first = 1 + below(devices);
    system_.text = fmt::format("[system]\ndevices = v100 * {}", first);
    for (std::uint32_t d = first; d < devices; ++d) system_.text += ", a100";
    system_.text += "\n";
    if (services > 0) system_.text += fmt::format("nics = {}\nhosts = {}\n", services, services);
    std::string names;
    const std::size_t buses = system_.switches.size() - (names_hub() ? 1 : 0);
    if (buses > 0) names = fmt::format("bus * {}", buses);
    if (names_hub()) names += names.empty() ? "hub" : ", hub";
    if (!names.empty()) system_.text += "switches = " + names + "\n";
  }
  [[nodiscard]] bool names_hub() const {
    return !system_.switches.empty() && system_.switches.back() == "hub";
  }

  [[nodiscard]] Names meant(const std::string& name) const {
    if (name == "all") return system_.devices;
    if (name == "hosts") return system_.hosts;
    if (name == "nics") return system_.nics;
    return {name};
  }

  std::string an_end() {
    if (below(3) == 0 || (system_.switches.empty() && below(2) == 0)) return "all";
    if (!system_.nics.empty() && below(3) == 0) return below(2) == 0 ? "nics" : "hosts";
    if (!system_.switches.empty() && below(2) == 0) return one_of(system_.switches);
    return one_of(system_.endpoints());
  }

  /// A line, unless it is one of those that are refused for other reasons.
  void edges() {
    std::string a = an_end(), b = an_end();
    if (a == b && a != "all") return;
    std::vector<NamePair> pairs;
    if (!system_.nics.empty() && below(3) == 0) {
      a = below(2) == 0 ? "gpuN" : "hostN";
      b = "nicN";
      const Names& from = a == "gpuN" ? system_.devices : system_.hosts;
      for (std::size_t i = 0; i < std::min(from.size(), system_.nics.size()); ++i)
        pairs.emplace_back(from[i], system_.nics[i]);
    } else {
      for (const std::string& x : meant(a))
        for (const std::string& y : meant(b))
          if (x != y && (a != b || x < y)) pairs.emplace_back(x, y);
    }
    std::set<NamePair> again;
    bool twice = false;
    for (const auto& [x, y] : pairs)
      twice = system_.links.contains(ordered(x, y)) || !again.insert(ordered(x, y)).second || twice;
    if (twice && below(4) != 0) return;
    const std::string& kind = one_of(system_.kinds);
    const std::uint32_t count = 1 + below(4);
    system_.text += fmt::format("{}.{} = {}{}\n", a, b, kind, count == 1 ? "" : fmt::format(" * {}", count));
    if (twice) system_.twice = lines_of(system_.text);
    for (const auto& [x, y] : pairs) system_.links[ordered(x, y)] = {kind, count};
  }

  Random32 random_;
  NamedSystem system_;
};

/// Links from each node to `target` on the shortest ways, over switches alone.
std::map<std::string, unsigned> steps_to(const NamedSystem& system, const std::string& target) {
  std::map<std::string, unsigned> steps{{target, 0}};
  std::deque<std::string> queue{target};
  while (!queue.empty()) {
    const std::string node = queue.front();
    queue.pop_front();
    const bool passes = std::ranges::find(system.switches, node) != system.switches.end();
    if (node != target && !passes) continue;
    for (const auto& entry : system.links) {
      const NamePair& ends = entry.first;
      if (ends.first != node && ends.second != node) continue;
      const std::string& other = ends.first == node ? ends.second : ends.first;
      if (steps.emplace(other, steps[node] + 1).second) queue.push_back(other);
    }
  }
  return steps;
}

/// The first pair of nodes that the network needs a way between and that has none.
std::optional<NamePair> missing_way(const NamedSystem& system) {
  for (std::size_t d = 0; d < system.devices.size() && !system.nics.empty(); ++d) {
    const std::string& nic = system.nics[d * system.nics.size() / system.devices.size()];
    if (!steps_to(system, nic).contains(system.devices[d])) return NamePair{system.devices[d], nic};
  }
  for (std::size_t a = 0; a < system.nics.size(); ++a)
    for (std::size_t b = a + 1; b < system.nics.size(); ++b)
      if (!steps_to(system, system.nics[a]).contains(system.nics[b]))
        return NamePair{system.nics[a], system.nics[b]};
  return std::nullopt;
}

Links links_of(const SystemConfig& s) {
  Links links;
  for (const LinkEdge& e : s.edges)
    links[ordered(s.node_name(e.a), s.node_name(e.b))] = {s.kinds[e.kind].name, e.count};
  CHECK(links.size() == s.edges.size());
  return links;
}

void require_ways(const NamedSystem& system, const SystemConfig& s) {
  const auto routes = s.routes();
  for (std::uint32_t to = 0; to < s.endpoints(); ++to) {
    const auto expected = steps_to(system, s.node_name(to));
    for (std::uint32_t from = 0; from < s.nodes(); ++from) {
      INFO(s.node_name(from) << " to " << s.node_name(to));
      const bool none = from != to && routes[from][to] == SystemConfig::kNoEdge;
      REQUIRE(none != expected.contains(s.node_name(from)));
      if (none) continue;
      unsigned steps = 0;
      for (std::uint32_t node = from; node != to; ++steps) {
        const LinkEdge& edge = s.edges[routes[node][to]];
        node = edge.a == node ? edge.b : edge.a;
      }
      REQUIRE(steps == expected.at(s.node_name(from)));
    }
  }
}

/// The file names as many devices as there are, but `count` are kept.
void require_first_devices(const NamedSystem& system, const std::string& file, std::uint32_t count) {
  const auto all = static_cast<std::uint32_t>(system.devices.size());
  const auto services = static_cast<std::uint32_t>(system.nics.size());
  if (count * services % all != 0) {
    CHECK_THROWS_WITH(resolve_system(file, count),
                      Catch::StartsWith(fmt::format("--gpus {}: s has {} hosts", count, services)));
    return;
  }
  const SystemConfig s = resolve_system(file, count);
  std::set<std::string> kept(system.switches.begin(), system.switches.end());
  for (std::uint32_t d = 0; d < count; ++d) kept.insert(system.devices[d]);
  for (std::uint32_t n = 0; n < count * services / all; ++n) kept.insert({system.hosts[n], system.nics[n]});
  Links expected = system.links;
  std::erase_if(expected, [&](const auto& entry) {
    return !kept.contains(entry.first.first) || !kept.contains(entry.first.second);
  });
  CHECK(links_of(s) == expected);
  CHECK(s.nodes() == kept.size());
}

TEST_CASE("random systems: nodes, links and ways are those that the lines name") {
  unsigned good = 0, twice = 0, apart = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    const NamedSystem system = SystemMaker(seed).make();
    INFO(system.text);
    const test::TemporaryFolder folder;
    const std::string file = folder.write("s.ini", system.text);
    const auto missing = missing_way(system);
    if (system.twice) {
      ++twice;
      REQUIRE(test::error_of([&] { (void)resolve_system(file); }) ==
              fmt::format("{}:{}: two nodes are linked twice; expected one line with their number of links",
                          file, *system.twice));
      continue;
    }
    if (missing) {
      ++apart;
      REQUIRE(test::error_of([&] { (void)resolve_system(file); }) ==
              fmt::format("{}: no links lead from {} to {}; expected [edges] with a way over switches alone",
                          file, missing->first, missing->second));
      continue;
    }
    ++good;
    const SystemConfig s = resolve_system(file);
    REQUIRE(links_of(s) == system.links);
    require_ways(system, s);
    CHECK(links_of(test::read_system(to_ini(s))) == system.links);
    CHECK(to_ini(test::read_system(to_ini(s))) == to_ini(s));
    require_first_devices(system, file, 1 + seed % static_cast<std::uint32_t>(system.devices.size()));
  }
  CHECK(good > 100);
  CHECK(twice > 20);
  CHECK(apart > 50);
}

TEST_CASE("random systems: names stand for one node or for all of a sort, in the order of their numbers") {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const NamedSystem system = SystemMaker(seed).make();
    if (system.twice || missing_way(system)) continue;
    const SystemConfig s = test::read_system(system.text);
    const auto names_of = [&](const std::string& name) {
      Names names;
      for (const std::uint32_t node : nodes_named(s, name)) names.push_back(s.node_name(node));
      return names;
    };
    CHECK(names_of("all") == system.devices);
    Names every = system.endpoints();
    every.insert(every.end(), system.switches.begin(), system.switches.end());
    REQUIRE(s.nodes() == every.size());
    for (std::uint32_t n = 0; n < s.nodes(); ++n) {
      CHECK(s.node_name(n) == every[n]);
      CHECK(node_named(s, every[n]) == n);
      CHECK(names_of(every[n]) == Names{every[n]});
    }
    if (!system.nics.empty()) CHECK((names_of("hosts") == system.hosts && names_of("nics") == system.nics));
    const std::string last = fmt::format("gpu{}", system.devices.size() - 1);
    for (const std::string bad : {"gpu", "gpu00", "gpu99", "nic9", "busN", " hub", ""}) {
      CHECK_FALSE(node_named(s, bad).has_value());
      CHECK(test::error_of([&] { (void)nodes_named(s, bad); }) ==
            fmt::format("'{}' is not a node; expected gpu0 to {}, all, {}or a switch of [system]", bad, last,
                        system.nics.empty() ? "" : "hosts, nics, one of these by its number, "));
    }
  }
}

}  // namespace
}  // namespace lockstep::config
