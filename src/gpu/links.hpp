// The links of a system, made from its configuration.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/system_config.hpp"
#include "core/peer_port.hpp"
#include "link/switch.hpp"
#include "sim/engine.hpp"
#include "stats/report.hpp"

namespace lockstep::gpu {

/// All of a system's links in both directions, its switches, and the network that carries their messages. The
/// wires of a device are its peer port's. A switch works in the core clock of device 0.
class Links {
 public:
  /// Claims ids for the switches. `ports`: the domains of the devices' peer ports. `base_khz`: the time base.
  Links(sim::Engine& engine, const config::SystemConfig& system, const std::vector<sim::DomainId>& ports,
        std::uint64_t base_khz);

  /// How the peer port of a device is connected; once each.
  [[nodiscard]] core::PeerWiring wiring(std::uint16_t device);
  /// Places the switches and adds the network.
  void attach(sim::Engine& engine);

  [[nodiscard]] bool quiescent() const;
  template <class A>
  void persist(A& a) {
    a(network_, switches_);
  }
  void dump(std::string& out) const;
  /// Both directions of each edge. `port`: of a device.
  template <class Port>
  [[nodiscard]] std::vector<stats::LinkResult> results(Port&& port) const {
    std::vector<stats::LinkResult> all;
    for (const Way& way : ways_) all.push_back(result(way, wire_of(way, port)));
    return all;
  }

 private:
  /// One direction of an edge.
  struct Way {
    std::uint32_t from, to, edge;
    std::uint32_t index = 0;  // among the wires of its sender
  };
  [[nodiscard]] std::uint64_t clock_khz(std::uint32_t node) const;
  [[nodiscard]] Cycle span(std::uint32_t node) const;
  [[nodiscard]] std::vector<link::Wire> wires(std::uint32_t node, unsigned queues);
  [[nodiscard]] std::vector<std::uint32_t> wire_to(std::uint32_t node) const;
  [[nodiscard]] std::vector<link::Framing> framing(std::uint32_t node) const;
  [[nodiscard]] std::vector<core::PeerWiring::Multicast> multicast(std::uint16_t device) const;
  [[nodiscard]] stats::LinkResult result(const Way& way, const link::Wire& wire) const;
  [[nodiscard]] std::string name(std::uint32_t node) const;
  template <class Port>
  [[nodiscard]] const link::Wire& wire_of(const Way& way, Port&& port) const {
    const auto devices = static_cast<std::uint32_t>(system_.devices.size());
    return way.from < devices ? port(static_cast<std::uint16_t>(way.from)).wires()[way.index]
                              : switches_[way.from - devices]->wires()[way.index];
  }

  config::SystemConfig system_;
  std::uint64_t base_khz_;
  std::vector<std::vector<std::uint32_t>> routes_;
  std::vector<Way> ways_;  // index: source in the network
  std::vector<sim::DomainId> nodes_;
  std::unique_ptr<link::Network> network_;
  std::vector<std::unique_ptr<link::Switch>> switches_;
};

}  // namespace lockstep::gpu
