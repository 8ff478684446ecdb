// Who serves the queues of a device's kernels, and where these stand: the designs that can be compared.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep::config {

/// By the registry's order (network_designs.cpp).
enum class NetDesign : std::uint8_t { kCompNet, kDgpu, kDgpuHost, kApu, kDirect, kInterKernel, kCpu };

struct NetDesignTraits {
  enum class Server : std::uint8_t {
    kCores,        // of the device's command processor; its commands to the NIC stand in device memory
    kHostThreads,  // commands stand in host memory
    kNic,          // nobody: the queues are the NIC's own
    kProcesses,    // nobody: a device's process on the host uses the network, and kernels do not
  };
  std::string_view name;
  Server server = Server::kCores;
  bool queues_on_host = false;  // entries and read indices are the host's memory
  bool coherent = false;        // device and host have a link of their own
  bool without_gpu = false;     // the device's memory is the host's, and nothing runs on the device
};
/// The registry: a design is a line in network_designs.cpp and a name in the enumeration.
[[nodiscard]] std::span<const NetDesignTraits> net_designs();
[[nodiscard]] const NetDesignTraits& traits(NetDesign design);
/// By its name; throws UserError where there is none.
[[nodiscard]] NetDesign net_design(std::string_view name);

}  // namespace lockstep::config
