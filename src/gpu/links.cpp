#include "gpu/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "gpu/cells.hpp"
#include "sim/inbox.hpp"

namespace lockstep::gpu {
namespace {

constexpr std::uint64_t kLongestMessage = 512;  // bytes on a wire, headers included

Cycle latency_cycles(const config::LinkKind& kind, std::uint64_t khz) {
  return std::max<Cycle>(sim::cycles_of_ps(kind.latency_ps, khz), 1);
}

std::uint64_t ps_of(Cycle cycles, std::uint64_t khz) {
  return static_cast<std::uint64_t>(static_cast<sim::Wide>(cycles) * 1'000'000'000 / khz);
}

}  // namespace

Links::Links(sim::Engine& engine, const config::SystemConfig& system, const std::vector<sim::DomainId>& ends,
             std::uint64_t base_khz)
    : system_(system), base_khz_(base_khz), routes_(system.routes()), nodes_(ends) {
  const auto switches = static_cast<std::uint32_t>(system.switches.size());
  const sim::DomainId first = engine.claim(switches);
  for (std::uint32_t s = 0; s < switches; ++s) nodes_.push_back(first + s);
  for (std::uint32_t e = 0; e < system.edges.size(); ++e) {
    const config::LinkEdge& edge = system.edges[e];
    for (const auto& [from, to] : {std::pair(edge.a, edge.b), std::pair(edge.b, edge.a)}) {
      const auto of_sender = std::ranges::count(ways_, from, &Way::from);
      ways_.push_back({from, to, e, static_cast<std::uint32_t>(of_sender)});
    }
  }
  logs_.resize(ways_.size());
  make_networks();
  for (std::uint32_t s = 0; s < switches; ++s) {
    const auto node = system.endpoints() + s;
    switches_.push_back(std::make_unique<link::Switch>(incoming(node), span(node),
                                                       wires(node, static_cast<unsigned>(ways_.size())),
                                                       wire_to(node), framing(node)));
  }
}

void Links::make_networks() {
  struct Ends {
    std::vector<sim::DomainId> senders, receivers;
    std::vector<std::uint32_t> numbers, nodes;  // of the ways; the receivers
    Time shortest = kNever;
  };
  const NodeCells cells = cells_of(system_);
  constexpr std::uint32_t kWithin = 0xffffffff;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Ends> all;  // by cell, or by the tiers of both ends
  for (std::uint32_t w = 0; w < ways_.size(); ++w) {
    Way& way = ways_[w];
    const bool within = cells.of_node[way.from] == cells.of_node[way.to];
    Ends& ends = all[within ? std::pair(kWithin, cells.of_node[way.from])
                            : std::pair(cells.tier_of(way.from), cells.tier_of(way.to))];
    way.source = static_cast<std::uint32_t>(ends.senders.size());
    ends.senders.push_back(nodes_[way.from]);
    ends.numbers.push_back(w);
    const auto known = std::ranges::find(ends.nodes, way.to);
    way.destination = static_cast<std::uint32_t>(known - ends.nodes.begin());
    if (known == ends.nodes.end()) {
      ends.nodes.push_back(way.to);
      ends.receivers.push_back(nodes_[way.to]);
    }
    const std::uint64_t khz = clock_khz(way.from);
    const sim::ClockRatio to_time(khz, base_khz_);
    const config::LinkKind& kind = system_.kinds[system_.edges[way.edge].kind];
    ends.shortest = std::min(ends.shortest, to_time.floor(latency_cycles(kind, khz)));
  }
  for (auto& [cell, ends] : all) {
    for (const std::uint32_t w : ends.numbers)
      ways_[w].network = static_cast<std::uint32_t>(networks_.size());
    networks_.push_back(std::make_unique<link::Network>(
        "link", std::move(ends.senders), std::move(ends.receivers), ends.shortest, std::move(ends.numbers)));
  }
}

/// Of the links that lead to the node.
link::Incoming Links::incoming(std::uint32_t node) const {
  link::Incoming found;
  for (const Way& way : ways_) {
    const link::Network* const network = networks_[way.network].get();
    if (way.to == node &&
        std::ranges::find(found.networks, network, &link::Incoming::From::network) == found.networks.end())
      found.networks.push_back({network, way.destination});
  }
  return found;
}

std::uint64_t Links::clock_khz(std::uint32_t node) const {
  return system_.devices[node < system_.devices.size() ? node : 0].clock.core_khz;
}

Cycle Links::span(std::uint32_t node) const {
  const std::uint64_t khz = clock_khz(node);
  Cycle longest = 0;
  for (const Way& way : ways_) {
    if (way.to != node) continue;
    const config::LinkEdge& edge = system_.edges[way.edge];
    const config::LinkKind& kind = system_.kinds[edge.kind];
    const sim::ClockRatio bytes(kind.bytes_per_second * edge.count, khz * 1000),
        window(clock_khz(way.from), khz);
    longest = std::max(
        longest, latency_cycles(kind, khz) + bytes.ceil(kLongestMessage) + window.ceil(sim::kInboxWindow));
  }
  return longest + sim::kInboxWindow + 8;
}

std::vector<link::Wire> Links::wires(std::uint32_t node, unsigned queues) {
  std::vector<link::Wire> found;
  for (std::uint32_t w = 0; w < ways_.size(); ++w) {
    const Way& way = ways_[w];
    if (way.from != node) continue;
    const config::LinkEdge& edge = system_.edges[way.edge];
    const config::LinkKind& kind = system_.kinds[edge.kind];
    const std::uint64_t khz = clock_khz(node);
    found.emplace_back(*networks_[way.network], way.source, way.destination, queues,
                       link::WireSpec{kind.bytes_per_second * edge.count,
                                      latency_cycles(kind, khz),
                                      khz,
                                      clock_khz(way.to),
                                      {std::uint64_t{kind.request_credit_bytes} * edge.count,
                                       std::uint64_t{kind.reply_credit_bytes} * edge.count},
                                      &logs_[w],
                                      kind.ordered_replies != 0 && node < system_.endpoints()});
  }
  return found;
}

std::vector<std::uint32_t> Links::wire_to(std::uint32_t node) const {
  std::vector<std::uint32_t> found(system_.endpoints(), core::PeerWiring::kNoWire);
  for (std::size_t target = 0; target < found.size(); ++target)
    for (const Way& way : ways_)
      if (way.from == node && way.edge == routes_[node][target]) found[target] = way.index;
  return found;
}

/// The framing of each of the node's wires.
std::vector<link::Framing> Links::framing(std::uint32_t node) const {
  std::vector<link::Framing> found;
  for (const Way& way : ways_) {
    if (way.from != node) continue;
    const config::LinkKind& kind = system_.kinds[system_.edges[way.edge].kind];
    found.emplace_back(*link::framing_models()[kind.model],
                       link::FramingBytes{kind.packet_bytes, kind.header_bytes, kind.store_bytes,
                                          kind.ack_bytes, kind.flit_bytes});
  }
  return found;
}

std::vector<core::PeerWiring::Multicast> Links::multicast(std::uint16_t device) const {
  const auto devices = static_cast<std::uint32_t>(system_.devices.size());
  std::vector<core::PeerWiring::Multicast> found;
  for (const std::uint32_t number : system_.multicast_switches(device)) {
    core::PeerWiring::Multicast& by = found.emplace_back();
    by.number = static_cast<std::uint16_t>(number);
    for (const Way& way : ways_) {
      if (way.to != system_.endpoints() + number || way.from >= devices) continue;
      by.devices |= std::uint64_t{1} << way.from;
      if (way.from == device) by.wire = way.index;
    }
  }
  return found;
}

core::PeerWiring Links::wiring(std::uint16_t device) {
  core::PeerWiring wiring;
  wiring.incoming = incoming(device);
  wiring.device = device;
  wiring.devices = static_cast<std::uint32_t>(system_.devices.size());
  wiring.first_nic = system_.first_nic();
  wiring.cores = system_.cores();
  wiring.wires = wires(device, 2);
  wiring.framing = framing(device);
  wiring.multicast = multicast(device);
  wiring.wire_to = wire_to(device);
  wiring.span = span(device);
  wiring.lanes = system_.port_lanes;
  wiring.lane_bytes = system_.port_lane_bytes;
  wiring.accesses = system_.port_accesses;
  wiring.copy_lines = system_.copy_lines;
  return wiring;
}

link::EndpointWiring Links::endpoint(std::uint32_t node) {
  return {incoming(node), static_cast<std::uint16_t>(node), wires(node, 2), framing(node), wire_to(node),
          span(node)};
}

void Links::attach(sim::Engine& engine, const RankMap& map, sim::Domain& elsewhere) {
  const sim::DomainClock clock(base_khz_, clock_khz(0));
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    const std::uint32_t node = system_.endpoints() + s;
    engine.place(nodes_[node], map.is_here(node) ? static_cast<sim::Domain&>(*switches_[s]) : elsewhere,
                 sim::DomainKind::kOther, clock);
  }
  for (const auto& network : networks_) engine.add(*network);
}

bool Links::quiescent() const {
  return std::ranges::all_of(switches_, [](const auto& s) { return s->quiescent(); });
}

void Links::dump(std::string& out) const {
  for (const auto& s : switches_)
    if (!s->quiescent()) s->dump(out);
}

LinkTimeline Links::timeline() const {
  LinkTimeline all;
  for (std::uint32_t node = system_.endpoints(); node < system_.nodes(); ++node)
    all.switches.emplace_back(node, system_.node_name(node));
  for (std::size_t w = 0; w < ways_.size(); ++w) {
    const Way& way = ways_[w];
    const config::LinkEdge& edge = system_.edges[way.edge];
    const config::LinkKind& kind = system_.kinds[edge.kind];
    const std::uint64_t khz = clock_khz(way.from);
    LinkTimeline::Row& row = all.rows.emplace_back();
    row = {way.from,
           fmt::format("link to {} ({} {})", system_.node_name(way.to), edge.count, kind.name),
           kind.bytes_per_second * edge.count,
           {}};
    for (const link::TrafficLog::Span& span : logs_[w].spans())
      row.slices.push_back({ps_of(span.from, khz), ps_of(span.to, khz), span.messages, span.bytes});
  }
  return all;
}

stats::LinkResult Links::result(const Way& way, const link::Wire::Counters& c) const {
  const config::LinkEdge& edge = system_.edges[way.edge];
  const config::LinkKind& kind = system_.kinds[edge.kind];
  return {system_.node_name(way.from),
          system_.node_name(way.to),
          kind.name,
          edge.count,
          kind.bytes_per_second * edge.count,
          c.messages,
          c.bytes,
          c.data_bytes,
          ps_of(c.credit_stalls[0], clock_khz(way.from)),
          ps_of(c.credit_stalls[1], clock_khz(way.from))};
}

}  // namespace lockstep::gpu
