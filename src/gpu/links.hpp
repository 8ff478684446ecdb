// The links of a system, made from its configuration.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/system_config.hpp"
#include "core/peer_port.hpp"
#include "gpu/link_timeline.hpp"
#include "gpu/rank_map.hpp"
#include "link/endpoint.hpp"
#include "link/switch.hpp"
#include "link/traffic_log.hpp"
#include "sim/engine.hpp"
#include "stats/report.hpp"

namespace lockstep::gpu {

/// All of a system's links in both directions, its switches, and the networks that carry their messages: one
/// for the links within each cell (cells_of()), and one for those from the cells of each tier to those of
/// each. The wires of a device are its peer port's. Switches, hosts and NICs work in the core clock of
/// device 0.
class Links {
 public:
  /// Claims ids for the switches. `ends`: the domains of the endpoints by number, of devices those of their
  /// peer ports. `base_khz`: the time base.
  Links(sim::Engine& engine, const config::SystemConfig& system, const std::vector<sim::DomainId>& ends,
        std::uint64_t base_khz);

  /// How the peer port of a device is connected; once each.
  [[nodiscard]] core::PeerWiring wiring(std::uint16_t device);
  /// Likewise a host or NIC.
  [[nodiscard]] link::EndpointWiring endpoint(std::uint32_t node);
  /// Places the switches and adds the networks. `elsewhere`: stands for switches of other ranks.
  void attach(sim::Engine& engine, const RankMap& map, sim::Domain& elsewhere);
  [[nodiscard]] std::span<const sim::DomainId> switch_ids() const {
    return std::span(nodes_).subspan(system_.endpoints());
  }

  /// Before the run: keeps what timeline() needs.
  void record() {
    for (link::TrafficLog& log : logs_) log.record();
  }
  [[nodiscard]] LinkTimeline timeline() const;
  /// What has been kept, by direction; empty logs where another rank has the sender.
  [[nodiscard]] std::span<link::TrafficLog> logs() { return logs_; }

  [[nodiscard]] bool quiescent() const;
  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(system_), a.given(base_khz_), a.given(routes_), a.given(ways_), a.given(nodes_),
              logs_, networks_, switches_);
  }
  void dump(std::string& out) const;
  /// Both directions of each edge. `wires_of`: an endpoint's; null: another rank has it, and counts.
  template <class Wires>
  [[nodiscard]] std::vector<stats::LinkResult> results(Wires&& wires_of) const {
    std::vector<stats::LinkResult> all;
    for (const Way& way : ways_) {
      const bool is_end = way.from < system_.endpoints();
      const std::vector<link::Wire>* wires =
          is_end ? wires_of(way.from) : &switches_[way.from - system_.endpoints()]->wires();
      all.push_back(result(way, wires ? (*wires)[way.index].counters() : link::Wire::Counters{}));
    }
    return all;
  }

 private:
  /// One direction of an edge.
  struct Way {
    std::uint32_t from, to, edge;
    std::uint32_t index = 0;                                 // among the wires of its sender
    std::uint32_t network = 0, source = 0, destination = 0;  // of networks_, and of that network
  };
  void make_networks();
  [[nodiscard]] link::Incoming incoming(std::uint32_t node) const;
  [[nodiscard]] std::uint64_t clock_khz(std::uint32_t node) const;
  [[nodiscard]] Cycle span(std::uint32_t node) const;
  [[nodiscard]] std::vector<link::Wire> wires(std::uint32_t node, unsigned queues);
  [[nodiscard]] std::vector<std::uint32_t> wire_to(std::uint32_t node) const;
  [[nodiscard]] std::vector<link::Framing> framing(std::uint32_t node) const;
  [[nodiscard]] std::vector<core::PeerWiring::Multicast> multicast(std::uint16_t device) const;
  [[nodiscard]] stats::LinkResult result(const Way& way, const link::Wire::Counters& counters) const;

  config::SystemConfig system_;
  std::uint64_t base_khz_;
  std::vector<std::vector<std::uint32_t>> routes_;
  std::vector<Way> ways_;  // index: the source's number, as receivers are given it
  std::vector<sim::DomainId> nodes_;
  std::vector<link::TrafficLog> logs_;  // of ways_
  std::vector<std::unique_ptr<link::Network>> networks_;
  std::vector<std::unique_ptr<link::Switch>> switches_;
};

}  // namespace lockstep::gpu
