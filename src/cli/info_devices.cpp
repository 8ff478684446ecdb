#include "cli/info_devices.hpp"

#include "mem/apertures.hpp"

namespace lockstep::cli {

std::vector<DeviceInfo> devices_info(const std::vector<trace::Command>& commands) {
  std::vector<DeviceInfo> devices(trace::devices_of(commands));
  for (DeviceInfo& device : devices) device.peer_bytes_to.resize(devices.size());
  using Kind = trace::Command::Kind;
  mem::Apertures apertures;
  for (const trace::Command& c : commands) {
    DeviceInfo& device = devices[c.device];
    if (c.kind == Kind::kPlace) apertures.place(c.address, c.bytes, c.device);
    if (c.kind == Kind::kKernel) ++device.kernels;
    if (c.kind == Kind::kPeerCopy) {
      DeviceInfo& source = devices[apertures.owner(c.source, c.device)];
      ++source.peer_copies;
      source.peer_bytes_to[apertures.owner(c.address, c.device)] += c.bytes;
    }
    if (!trace::is_copy(c.kind)) continue;
    const bool in = trace::is_copy_to_device(c.kind);
    ++(in ? device.to_device : device.to_host);
    (in ? device.to_device_bytes : device.to_host_bytes) += c.bytes;
  }
  return devices;
}

}  // namespace lockstep::cli
