// The designs that can be compared: which agent serves the queues of a device's kernels, and where the queues
// are.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep::config {

/// In the order of the registry (network_designs.cpp).
enum class NetDesign : std::uint8_t { kCompNet, kDgpu, kDgpuHost, kApu, kDirect, kInterKernel, kCpu };

struct NetDesignTraits {
  enum class Server : std::uint8_t {
    kCores,        // cores of the device's command processor; its commands to the NIC are in device memory
    kHostThreads,  // commands are in host memory
    kNic,          // the NIC itself: the queues are its own
    kProcesses,    // none: the device's process on the host uses the network, kernels do not
  };
  std::string_view name;
  Server server = Server::kCores;
  bool queues_on_host = false;  // entries and read indices are in host memory
  bool coherent = false;        // a dedicated coherent link connects device and host
  bool without_gpu = false;     // data are in host memory, and nothing runs on the device
};
/// The registry: a design is a line in network_designs.cpp and a name in the enumeration.
[[nodiscard]] std::span<const NetDesignTraits> net_designs();
[[nodiscard]] const NetDesignTraits& traits(NetDesign design);
/// Finds a design by name; throws UserError if there is none.
[[nodiscard]] NetDesign net_design(std::string_view name);

}  // namespace lockstep::config
