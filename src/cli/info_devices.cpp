#include "cli/info_devices.hpp"

#include <algorithm>

namespace lockstep::cli {

namespace {

using Kind = trace::Command::Kind;

/// Whose memory is at an address: the latest command that places it says so, else `otherwise`.
std::uint16_t owner_of(const std::vector<trace::Command>& places, Address address, std::uint16_t otherwise) {
  const auto found = std::find_if(places.rbegin(), places.rend(), [address](const trace::Command& place) {
    return address - place.address < place.bytes;
  });
  return found == places.rend() ? otherwise : found->device;
}

}  // namespace

std::vector<DeviceInfo> devices_info(const std::vector<trace::Command>& commands) {
  std::vector<DeviceInfo> devices(trace::devices_of(commands));
  for (DeviceInfo& device : devices) device.peer_bytes_to.resize(devices.size());
  std::vector<trace::Command> places;
  for (const trace::Command& c : commands) {
    DeviceInfo& device = devices[c.device];
    if (c.kind == Kind::kPlace) places.push_back(c);
    if (c.kind == Kind::kKernel) ++device.kernels;
    if (c.kind == Kind::kPeerCopy) {
      DeviceInfo& source = devices[owner_of(places, c.source, c.device)];
      ++source.peer_copies;
      source.peer_bytes_to[owner_of(places, c.address, c.device)] += c.bytes;
    }
    if (!trace::is_copy(c.kind)) continue;
    const bool in = trace::is_copy_to_device(c.kind);
    ++(in ? device.to_device : device.to_host);
    (in ? device.to_device_bytes : device.to_host_bytes) += c.bytes;
  }
  return devices;
}

}  // namespace lockstep::cli
