// A system: devices, switches, and the links between them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/gpu_config.hpp"
#include "config/network_config.hpp"
#include "config/products.hpp"

namespace lockstep::config {

/// A kind of link. Both directions are alike and independent.
struct LinkKind {
  std::string name;
  std::uint64_t bytes_per_second = 0;  // one direction
  std::uint64_t latency_ps = 0;    // from a message's last byte on the wire to its arrival at the other end
  std::uint32_t packet_bytes = 0;  // of data under one header, where data follow each other (copies)
  std::uint32_t header_bytes = 0;  // of a packet
  std::uint32_t store_bytes = 0;   // more, of a store's packet
  std::uint32_t ack_bytes = 0;     // of an acknowledgement
  std::uint32_t flit_bytes = 16;   // model flits: of a flit; default: Foley and Danskin (IEEE Micro 2017)
  // Receive buffer of a link for each class of messages, in each direction; 0: as much as makes no sender
  // wait. No vendor publishes sizes.
  std::uint32_t request_credit_bytes = 0, answer_credit_bytes = 0;
  std::uint32_t model = 0;  // of what a message costs on the wire: index into link_models()
};

/// The most bytes of a message of this kind of link.
[[nodiscard]] std::uint32_t largest_message(const LinkKind& kind);

/// The names of link::framing_models(), in their order.
[[nodiscard]] std::span<const std::string_view> link_models();

/// `count` links side by side between two nodes, which carry messages as one of their summed bandwidth. Nodes
/// are the devices 0, 1, ..., then the hosts, the NICs, and the switches.
struct LinkEdge {
  std::uint32_t a = 0, b = 0;
  std::uint32_t kind = 0;  // index into SystemConfig::kinds
  std::uint32_t count = 1;
};

struct SystemConfig {
  std::string name;
  std::vector<GpuConfig> devices;
  // Only with networking (network_config.hpp): nodes of their own, each for as many devices in a row.
  // Without, the one host of the system is no node.
  std::uint32_t hosts = 0, nics = 0;
  NetworkConfig network;
  std::vector<std::string> switches;
  std::set<std::string> multicast;  // of these, those that copy and reduce messages to several devices (NVLS)
  std::vector<LinkKind> kinds;
  std::vector<LinkEdge> edges;
  // The port of each device between its crossbar and its links. Assumed: so wide and deep that the links of
  // the systems that ship are what limits (4 * 128 bytes a cycle; 4096 lines are 1.7 us of 300 GB/s, there
  // and back takes less).
  std::uint32_t port_lanes = 4;         // ports of the crossbar
  std::uint32_t port_lane_bytes = 128;  // that each takes in a crossbar cycle
  std::uint32_t port_accesses = 4096;   // of SMs to other devices, under way at most
  std::uint32_t copy_lines = 4096;      // of one copy to another device, under way at most
  // What a copy to another device takes from its stream's turn to its first line. Copies of 16 bytes in a row
  // take 2.73 us each between four A100 (p2pBandwidthLatencyTest, idx:47278818972); the rest of it is
  // simulated.
  std::uint32_t copy_start_ps = 1'840'000;

  // Numbers of nodes. Endpoints: those that are no switches.
  [[nodiscard]] std::uint32_t first_host() const { return static_cast<std::uint32_t>(devices.size()); }
  [[nodiscard]] std::uint32_t first_nic() const { return first_host() + hosts; }
  [[nodiscard]] std::uint32_t endpoints() const { return first_nic() + nics; }
  [[nodiscard]] std::uint32_t nodes() const {
    return endpoints() + static_cast<std::uint32_t>(switches.size());
  }
  /// The node of the NIC or host that serves a device; precondition: there are some.
  [[nodiscard]] std::uint32_t nic_of(std::uint32_t device) const {
    return first_nic() + device * nics / first_host();
  }
  [[nodiscard]] std::uint32_t host_of(std::uint32_t device) const {
    return first_host() + device * hosts / first_host();
  }
  /// Whether it is they who serve queues.
  [[nodiscard]] bool served_by(NetDesignTraits::Server server) const {
    return nics > 0 && traits(network.node.design).server == server;
  }
  /// Hosts serve queues, or are where processes run.
  [[nodiscard]] bool has_working_hosts() const {
    return served_by(NetDesignTraits::Server::kHostThreads) || served_by(NetDesignTraits::Server::kProcesses);
  }
  /// The endpoint whose memory a device's data are in.
  [[nodiscard]] std::uint32_t memory_of(std::uint32_t device) const {
    return nics > 0 && traits(network.node.design).without_gpu ? host_of(device) : device;
  }
  /// Of each device's command processor: 0 where nobody programs it.
  [[nodiscard]] std::uint32_t cores() const {
    return served_by(NetDesignTraits::Server::kCores) ? network.command_processor.cores : 0;
  }
  [[nodiscard]] std::string node_name(std::uint32_t node) const;
  /// Several devices, or a network: there are links, and reports say which device is meant.
  [[nodiscard]] bool linked() const { return devices.size() > 1 || nics > 0; }
  /// For each node and endpoint, the edge over which a message to that endpoint leaves the node: the first
  /// one of a shortest way. Endpoints pass nothing on. kNoEdge where there is no way, and of one to itself.
  static constexpr std::uint32_t kNoEdge = 0xffffffff;
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> routes() const;
  /// Of the switches that the device has a link to, those that multicast, as indices into `switches`.
  [[nodiscard]] std::vector<std::uint32_t> multicast_switches(std::uint32_t device) const;
};

/// The registry: to add a system, write systems/NAME.ini and add a line in system_products.cpp.
[[nodiscard]] std::span<const Product> systems();
[[nodiscard]] bool is_system(std::string_view name);

/// `name_or_file`: a system's name, or an INI file with a [system] section. `devices`: only the first so
/// many; 0: all. `overrides`: of every device, as resolve()'s. Throws UserError / InputError.
[[nodiscard]] SystemConfig resolve_system(const std::string& name_or_file, std::uint32_t devices = 0,
                                          const std::vector<std::string>& overrides = {});
/// Whether the name or file means a system and not a device: a system's name, or a file that has a [system].
[[nodiscard]] bool means_system(const std::string& name_or_file);
/// `count` devices of one product, without links.
[[nodiscard]] SystemConfig unlinked_system(const GpuConfig& device, std::uint32_t count);

/// The system as a text that resolve_system() reads back, with its devices by their `gpu.name`, and what is
/// not as these products have it as far as it is the same for all devices.
[[nodiscard]] std::string to_ini(const SystemConfig& system);

/// The most devices of a system.
inline constexpr std::uint32_t kMaxDevices = 64;

}  // namespace lockstep::config
