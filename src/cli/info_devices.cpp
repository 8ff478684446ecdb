#include "cli/info_devices.hpp"

#include <map>
#include <utility>

#include "mem/apertures.hpp"
#include "trace/host_task.hpp"

namespace lockstep::cli {

std::vector<DeviceInfo> devices_info(const std::vector<trace::Command>& commands) {
  std::vector<DeviceInfo> devices(trace::devices_of(commands));
  for (DeviceInfo& device : devices) device.peer_bytes_to.resize(devices.size());
  using Kind = trace::Command::Kind;
  mem::Apertures apertures;
  std::map<std::pair<std::uint16_t, Address>, std::uint64_t> multicast;
  for (const trace::Command& c : commands) {
    DeviceInfo& device = devices[c.device];
    if (c.kind == Kind::kPlace) apertures.place(c.address, c.bytes, c.device);
    if (c.kind == Kind::kMulticast) {
      apertures.multicast(c.address, c.bytes, c.device, c.source);
      multicast[{c.device, c.address}] = c.bytes;
    }
    if (c.kind == Kind::kKernel) ++device.kernels;
    if (c.kind == Kind::kPeerCopy) {
      const std::uint16_t from = apertures.owner(c.source, c.device),
                          to = apertures.owner(c.address, c.device);
      if (from == mem::Apertures::kMulticast || to == mem::Apertures::kMulticast) continue;
      ++devices[from].peer_copies;
      devices[from].peer_bytes_to[to] += c.bytes;
    }
    if (!trace::is_copy(c.kind)) continue;
    const bool in = trace::is_copy_to_device(c.kind);
    ++(in ? device.copies.to_device : device.copies.to_host);
    (in ? device.copies.to_device_bytes : device.copies.to_host_bytes) += c.bytes;
  }
  for (const auto& [of, bytes] : multicast) devices[of.first].multicast_bytes += bytes;
  return devices;
}

CopyTotals copies_of(const std::vector<DeviceInfo>& devices) {
  CopyTotals sum;
  for (const DeviceInfo& device : devices) {
    sum.to_device += device.copies.to_device;
    sum.to_device_bytes += device.copies.to_device_bytes;
    sum.to_host += device.copies.to_host;
    sum.to_host_bytes += device.copies.to_host_bytes;
  }
  return sum;
}

std::vector<NetworkInfo> network_info(const std::vector<trace::Command>& commands) {
  using Kind = trace::Command::Kind;
  std::vector<NetworkInfo> devices;
  for (const trace::Command& c : commands) {
    if (!trace::is_network(c.kind) && c.kind != Kind::kHostTask) continue;
    if (devices.empty()) devices.resize(trace::devices_of(commands));
    NetworkInfo& device = devices[c.device];
    if (c.kind == Kind::kHostTask) {
      const trace::HostTask::Kind task = trace::counted_as(c.task.kind);
      ++device.tasks[static_cast<std::size_t>(task)];
      if (task == trace::HostTask::Kind::kSend) device.sent_bytes += c.task.bytes;
    }
    if (c.kind == Kind::kNetQueue) ++device.queues;
    if (c.kind != Kind::kNetOperation) continue;
    const auto kind = static_cast<std::size_t>(c.operation.kind);
    ++device.operations[kind];
    device.bytes[kind] += c.operation.bytes;
    if (c.operation.signal != 0) ++device.signals;
  }
  return devices;
}

}  // namespace lockstep::cli
