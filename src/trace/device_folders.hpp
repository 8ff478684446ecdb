// Traces of several programs with one device each, as one trace of several devices.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

inline constexpr std::uint16_t kMaxDeviceFolders = 16;

struct DeviceFolder {
  std::uint16_t device = 0;
  std::string path;  // as for open_trace(), except compact traces
};

/// Precondition: the devices are 0, 1, 2, ... in order, at most kMaxDeviceFolders.
///
/// Each folder has an address space of its own, all of it memory of its device: see moved_addresses.hpp.
///
/// Each program has a host of its own: its waits do not delay the other programs. As a trace has one host,
/// such waits become waits of streams for events. A copy whose stream the list does not name begins when
/// everything before it is complete, and what follows begins after it (as with host.copy_mode = blocking).
/// Throws InputError.
[[nodiscard]] std::unique_ptr<TraceSet> open_device_folders(const std::vector<DeviceFolder>& folders,
                                                            const OpenOptions& options = {});

}  // namespace lockstep::trace
