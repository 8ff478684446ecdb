// The links of every system that comes with the program: both directions of each edge, and wires that lead to
// their targets on a shortest way.
#include "gpu/links.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <set>

namespace lockstep::test {
namespace {

using gpu::Links;

constexpr const char* kSystems[] = {"dgx1_v100", "dgx_a100",  "dgx_h100", "hgx_a100_4",
                                    "pcie_4",    "compnet_8", "gh200_4",  "h100_nodes"};

struct Built {
  explicit Built(const config::SystemConfig& c) : system(c), engine({}) {
    const sim::DomainId first = engine.claim(system.endpoints());
    for (std::uint32_t node = 0; node < system.endpoints(); ++node) ends.push_back(first + node);
    links = std::make_unique<Links>(engine, system, ends, system.devices.front().clock.core_khz);
  }
  [[nodiscard]] std::vector<stats::LinkResult> rows() const {
    return links->results([](std::uint32_t) -> const std::vector<link::Wire>* { return nullptr; });
  }
  /// Rows of what a node sends on, in the order of its wires.
  [[nodiscard]] std::vector<stats::LinkResult> sent_by(const std::string& node) const {
    std::vector<stats::LinkResult> found;
    for (const stats::LinkResult& row : rows())
      if (row.from == node) found.push_back(row);
    return found;
  }
  /// Links from each node to `target`.
  [[nodiscard]] std::map<std::string, unsigned> distances(std::uint32_t target) const {
    std::map<std::string, unsigned> found{{system.node_name(target), 0}};
    for (std::size_t before = 0; before != found.size();) {
      before = found.size();
      const auto known = found;
      for (const stats::LinkResult& row : rows()) {
        const auto to = known.find(row.to);
        if (to == known.end()) continue;
        // Only switches pass messages on.
        if (to->second > 0 && !is_switch(row.to)) continue;
        const auto [at, added] = found.emplace(row.from, to->second + 1);
        if (!added) at->second = std::min(at->second, to->second + 1);
      }
    }
    return found;
  }
  [[nodiscard]] bool is_switch(const std::string& name) const {
    for (std::uint32_t s = system.endpoints(); s < system.nodes(); ++s)
      if (system.node_name(s) == name) return true;
    return false;
  }

  config::SystemConfig system;
  sim::Engine engine;
  std::vector<sim::DomainId> ends;
  std::unique_ptr<Links> links;
};

void check_ways(const Built& built, std::uint32_t node, const std::vector<std::uint32_t>& wire_to) {
  const auto sent = built.sent_by(built.system.node_name(node));
  REQUIRE(wire_to.size() == built.system.endpoints());
  for (std::uint32_t target = 0; target < wire_to.size(); ++target) {
    if (target == node) continue;
    INFO("from " << built.system.node_name(node) << " to " << built.system.node_name(target));
    const auto distance = built.distances(target);
    const auto own = distance.find(built.system.node_name(node));
    if (own == distance.end()) {
      CHECK(wire_to[target] == core::PeerWiring::kNoWire);
      continue;
    }
    REQUIRE(wire_to[target] < sent.size());
    CHECK(distance.at(sent[wire_to[target]].to) + 1 == own->second);
  }
}

TEST_CASE("links: every edge has two directions with the same rate, and nothing has crossed them yet") {
  for (const char* name : kSystems) {
    INFO(name);
    const Built built(config::resolve_system(name));
    const auto rows = built.rows();
    CHECK(rows.size() == 2 * built.system.edges.size());
    std::map<std::pair<std::string, std::string>, std::uint64_t> rate;
    for (const stats::LinkResult& row : rows) {
      CHECK(row.from != row.to);
      CHECK(row.count > 0);
      CHECK(row.bytes_per_second > 0);
      CHECK(row.messages + row.bytes + row.data_bytes == 0);
      rate[{row.from, row.to}] += row.bytes_per_second;
    }
    for (const auto& [ends, bytes] : rate) CHECK(rate.at({ends.second, ends.first}) == bytes);
    CHECK(built.links->quiescent());
    CHECK(built.links->switch_ids().size() == built.system.switches.size());
    std::string dump;
    built.links->dump(dump);
    CHECK(dump.empty());
  }
}

TEST_CASE("links: wires of devices, hosts and NICs begin shortest ways; each wire has its framing") {
  for (const char* name : kSystems) {
    INFO(name);
    Built built(config::resolve_system(name));
    for (std::uint16_t d = 0; d < built.system.devices.size(); ++d) {
      const core::PeerWiring wiring = built.links->wiring(d);
      CHECK(wiring.device == d);
      CHECK(wiring.devices == built.system.devices.size());
      CHECK(wiring.wires.size() == built.sent_by(built.system.node_name(d)).size());
      CHECK(wiring.framing.size() == wiring.wires.size());
      check_ways(built, d, wiring.wire_to);
    }
    for (std::uint32_t node = built.system.first_host(); node < built.system.endpoints(); ++node) {
      const link::EndpointWiring wiring = built.links->endpoint(node);
      CHECK(wiring.node == node);
      CHECK(wiring.wires.size() == wiring.framing.size());
      check_ways(built, node, wiring.wire_to);
    }
  }
}

TEST_CASE("links: a switch that multicasts reaches the devices on it, each by the wire that leads there") {
  for (const char* name : kSystems) {
    INFO(name);
    Built built(config::resolve_system(name));
    for (std::uint16_t d = 0; d < built.system.devices.size(); ++d) {
      const core::PeerWiring wiring = built.links->wiring(d);
      const auto sent = built.sent_by(built.system.node_name(d));
      std::set<std::string> on_wires;
      for (const stats::LinkResult& row : sent)
        if (built.system.multicast.contains(row.to)) on_wires.insert(row.to);
      CHECK(wiring.multicast.size() == on_wires.size());
      for (const core::PeerWiring::Multicast& by : wiring.multicast) {
        REQUIRE(by.wire < sent.size());
        const std::string& number = sent[by.wire].to;
        CHECK(on_wires.contains(number));
        CHECK(number == built.system.node_name(built.system.endpoints() + by.number));
        for (std::uint16_t other = 0; other < built.system.devices.size(); ++other) {
          bool is_on = false;
          for (const stats::LinkResult& row : built.sent_by(built.system.node_name(other)))
            is_on = is_on || row.to == number;
          CHECK((by.devices >> other & 1) == (is_on ? 1 : 0));
        }
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::test
