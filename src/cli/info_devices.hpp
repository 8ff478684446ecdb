// What `lockstep info` says of a trace of several devices.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/kernel_trace.hpp"

namespace lockstep::cli {

/// Copies from the host and to it.
struct CopyTotals {
  std::uint64_t to_device = 0, to_device_bytes = 0, to_host = 0, to_host_bytes = 0;
};

/// What a device carries out, and what other devices copy into its memory.
struct DeviceInfo {
  std::uint64_t kernels = 0;
  CopyTotals copies;
  std::uint64_t peer_copies = 0;             // from its memory to another device's, whoever carries them out
  std::vector<std::uint64_t> peer_bytes_to;  // of these, by the device that gets them
  std::uint64_t multicast_bytes = 0;         // multicast addresses that stand for its memory too
};

/// What a device's kernels ask of the network. Kinds are those of trace::NetOperation.
struct NetworkInfo {
  static constexpr std::array<const char*, trace::NetOperation::kKinds> kNames{"puts", "gets", "atomics",
                                                                               "quiets"};
  std::uint64_t queues = 0;
  std::array<std::uint64_t, trace::NetOperation::kKinds> operations{}, bytes{};  // by kind
  std::uint64_t signals = 0;                                                     // puts with one
  // The tasks of the device's process on its host.
  static constexpr std::array<const char*, trace::HostTask::kCountedKinds> kTaskNames{"computes", "sends",
                                                                                      "receives", "flushes"};
  std::array<std::uint64_t, trace::HostTask::kCountedKinds> tasks{};
  std::uint64_t sent_bytes = 0;
};

/// By device; empty where the trace has nothing of the network.
[[nodiscard]] std::vector<NetworkInfo> network_info(const std::vector<trace::Command>& commands);

/// By device; one where all commands are the first device's.
[[nodiscard]] std::vector<DeviceInfo> devices_info(const std::vector<trace::Command>& commands);
/// Of all devices.
[[nodiscard]] CopyTotals copies_of(const std::vector<DeviceInfo>& devices);

}  // namespace lockstep::cli
