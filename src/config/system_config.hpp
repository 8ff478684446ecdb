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
#include "config/gpu_models.hpp"
#include "config/network_config.hpp"

namespace lockstep::config {

/// A kind of link. Both directions are alike and independent.
struct LinkKind {
  std::string name;
  std::uint64_t bytes_per_second = 0;  // one direction
  std::uint64_t latency_ps = 0;    // from a message's last byte on the wire to its arrival at the other end
  std::uint32_t packet_bytes = 0;  // payload per header when data are contiguous (copies)
  std::uint32_t header_bytes = 0;  // per packet
  std::uint32_t store_bytes = 0;   // extra bytes in a store's packet
  std::uint32_t ack_bytes = 0;     // per acknowledgement
  std::uint32_t flit_bytes = 16;  // size of a flit (model "flits"); default: Foley, Danskin (IEEE Micro 2017)
  // Receive buffer of a link for each class of messages, in each direction; 0: never makes a sender wait. No
  // vendor publishes sizes.
  std::uint32_t request_credit_bytes = 0, reply_credit_bytes = 0;
  std::uint32_t ordered_replies = 0;  // 1: replies with data do not pass writes (link::WireSpec)
  std::uint32_t model = 0;            // of a message's cost on the wire: index into link_models()
};

/// The size in bytes of the longest message on this kind of link.
[[nodiscard]] std::uint32_t largest_message(const LinkKind& kind);

/// The names of link::framing_models(), in the same order.
[[nodiscard]] std::span<const std::string_view> link_models();

/// `count` parallel links between two nodes, treated as one link with their total bandwidth. Nodes are the
/// devices 0, 1, ..., then the hosts, the NICs, and the switches.
struct LinkEdge {
  std::uint32_t a = 0, b = 0;
  std::uint32_t kind = 0;  // index into SystemConfig::kinds
  std::uint32_t count = 1;
};

struct SystemConfig {
  std::string name;
  std::vector<GpuConfig> devices;
  // With networking (network_config.hpp) only: separate nodes, each for the same number of consecutive
  // devices. Without networking, the single host of the system is not a node.
  std::uint32_t hosts = 0, nics = 0;
  NetworkConfig network;
  std::vector<std::string> switches;
  std::set<std::string> multicast;  // switches that copy and reduce messages to several devices (NVLS)
  std::vector<LinkKind> kinds;
  std::vector<LinkEdge> edges;
  // The port of each device between its crossbar and its links. Assumed: wide and deep enough that in the
  // systems that ship the links are the bottleneck (4 * 128 bytes per cycle; 4096 lines are 1.7 us at 300
  // GB/s, more than a round trip).
  std::uint32_t port_lanes = 4;         // crossbar ports
  std::uint32_t port_lane_bytes = 128;  // per crossbar port and cycle
  std::uint32_t port_accesses = 4096;   // limit on the SMs' accesses to other devices in flight
  std::uint32_t copy_lines = 4096;      // limit on the lines in flight of one copy to another device
  // Time from when a copy to another device is due in its stream until its first line. Back-to-back copies of
  // 16 bytes take 2.73 us each between four A100 (p2pBandwidthLatencyTest, idx:47278818972); the rest of that
  // is simulated.
  std::uint32_t copy_start_ps = 1'840'000;

  // Numbers of nodes. Endpoints: all nodes but switches.
  [[nodiscard]] std::uint32_t first_host() const { return static_cast<std::uint32_t>(devices.size()); }
  [[nodiscard]] std::uint32_t first_nic() const { return first_host() + hosts; }
  [[nodiscard]] std::uint32_t endpoints() const { return first_nic() + nics; }
  [[nodiscard]] std::uint32_t nodes() const {
    return endpoints() + static_cast<std::uint32_t>(switches.size());
  }
  /// The node of the NIC or host that serves a device; precondition: the system has some.
  [[nodiscard]] std::uint32_t nic_of(std::uint32_t device) const {
    return first_nic() + device * nics / first_host();
  }
  [[nodiscard]] std::uint32_t host_of(std::uint32_t device) const {
    return first_host() + device * hosts / first_host();
  }
  /// Whether queues are served by this kind of agent.
  [[nodiscard]] bool served_by(NetDesignTraits::Server server) const {
    return nics > 0 && traits(network.node.design).server == server;
  }
  /// Whether hosts serve queues or run processes.
  [[nodiscard]] bool has_working_hosts() const {
    return served_by(NetDesignTraits::Server::kHostThreads) || served_by(NetDesignTraits::Server::kProcesses);
  }
  /// The endpoint whose memory holds a device's data.
  [[nodiscard]] std::uint32_t memory_of(std::uint32_t device) const {
    return nics > 0 && traits(network.node.design).without_gpu ? host_of(device) : device;
  }
  /// Cores of each device's command processor that serve queues; 0 in other designs.
  [[nodiscard]] std::uint32_t cores() const {
    return served_by(NetDesignTraits::Server::kCores) ? network.command_processor.cores : 0;
  }
  [[nodiscard]] std::string node_name(std::uint32_t node) const;
  /// Whether there are several devices, or a network: then there are links, and reports name the device.
  [[nodiscard]] bool linked() const { return devices.size() > 1 || nics > 0; }
  /// For each node and endpoint, the edge by which a message to that endpoint leaves the node: the first one
  /// of a shortest path. Endpoints do not forward. kNoEdge if there is no path, and for an endpoint to
  /// itself.
  static constexpr std::uint32_t kNoEdge = 0xffffffff;
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> routes() const;
  /// The multicast switches that the device has a link to, as indices into `switches`.
  [[nodiscard]] std::vector<std::uint32_t> multicast_switches(std::uint32_t device) const;
};

/// The registry: to add a system, write systems/NAME.ini and add a line in system_products.cpp.
[[nodiscard]] std::span<const BundledConfig> systems();
[[nodiscard]] bool is_system(std::string_view name);

/// `name_or_file`: a system's name, or an INI file with a [system] section. `devices`: how many devices to
/// keep, from the first; 0: all. `overrides`: for every device, as in resolve(). Throws UserError /
/// InputError.
[[nodiscard]] SystemConfig resolve_system(const std::string& name_or_file, std::uint32_t devices = 0,
                                          const std::vector<std::string>& overrides = {});
/// Whether the name or file means a system and not a device: a system's name, or a file that has a [system].
[[nodiscard]] bool means_system(const std::string& name_or_file);
/// `count` devices of one model, without links.
[[nodiscard]] SystemConfig unlinked_system(const GpuConfig& device, std::uint32_t count);

/// The system as a text that resolve_system() reads back: its devices by their `gpu.name`, with the values in
/// which they differ from these models, as far as these are the same for all devices.
[[nodiscard]] std::string to_ini(const SystemConfig& system);

/// Help for a parameter of a system ("nic.outstanding", "nvlink3.latency_ps"), for a section ("nic", a kind
/// of link), or for all ("" = all): value, type, range, default, help. Throws UserError for any other name.
[[nodiscard]] std::string explain(const std::string& key_or_section, const SystemConfig& system);

/// The maximum number of devices of a system.
inline constexpr std::uint32_t kMaxDevices = 64;

}  // namespace lockstep::config
