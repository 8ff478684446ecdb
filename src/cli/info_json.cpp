#include "cli/info_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/info_devices.hpp"

namespace lockstep::cli {
namespace {

using Json = nlohmann::ordered_json;

Json counts_json(const Counts& c) { return {{"warp", c.warp}, {"thread", c.thread}}; }
Json dims_json(Dim3 d) { return Json::array({d.x, d.y, d.z}); }

Json network_json(const NetworkInfo& network) {
  Json out = {{"queues", network.queues}};
  for (std::size_t kind = 0; kind < NetworkInfo::kNames.size(); ++kind)
    out[NetworkInfo::kNames[kind]] = {{"operations", network.operations[kind]},
                                      {"bytes", network.bytes[kind]}};
  out["signals"] = network.signals;
  if (std::ranges::none_of(network.tasks, [](std::uint64_t count) { return count > 0; })) return out;
  Json& tasks = out["tasks"];
  for (std::size_t kind = 0; kind < NetworkInfo::kTaskNames.size(); ++kind)
    tasks[NetworkInfo::kTaskNames[kind]] = network.tasks[kind];
  tasks["sent_bytes"] = network.sent_bytes;
  return out;
}

Json contents_json(const KernelInfo& k) {
  Json out;
  out["instructions"] = counts_json(k.total);
  out["static_instructions"] = k.static_instructions;
  Json& classes = out["classes"] = Json::object();
  for (std::size_t i = 0; i < kClasses; ++i)
    if (k.by_class[i].warp > 0)
      classes[std::string(class_name(static_cast<trace::OpClass>(i)))] = counts_json(k.by_class[i]);
  Json& opcodes = out["opcodes"] = Json::object();
  for (const auto& [name, counts] : k.by_opcode) opcodes[name] = counts_json(counts);
  Json& memory = out["memory"] = Json::object();
  for (std::size_t i = 0; i < kInfoSpaces; ++i) {
    const SpaceUse& use = k.spaces[i];
    memory[std::string(space_name(static_cast<InfoSpace>(i)))] = {
        {"loads", counts_json(use.loads)},
        {"stores", counts_json(use.stores)},
        {"atomics", counts_json(use.atomics)},
        {"bytes_moved", use.bytes_moved},
        {"lines", use.lines},
        {"touched_bytes", use.sectors * kSectorBytes}};
  }
  out["tensor_macs"] = k.tensor_macs;
  if (!k.by_line.empty()) {
    Json& lines = out["source_lines"] = Json::array();
    for (const auto& [line, counts] : k.by_line)
      lines.push_back(
          {{"file", line.first}, {"line", line.second}, {"warp", counts.warp}, {"thread", counts.thread}});
  }
  out["unknown_opcodes"] = k.unknown;
  out["remarks"] = k.remarks;
  return out;
}

Json kernel_json(const KernelInfo& k) {
  const trace::KernelHeader& h = k.header;
  Json out = {{"name", h.name},
              {"id", h.id},
              {"stream", h.stream},
              {"grid", dims_json(h.grid)},
              {"block", dims_json(h.block)},
              {"ctas", h.grid.count()},
              {"threads_per_cta", h.threads_per_cta()},
              {"warps_per_cta", h.warps_per_cta()},
              {"registers_per_thread", h.registers},
              {"shared_bytes_per_cta", h.shared_bytes},
              {"binary_version", h.binary_version},
              {"tracer_version", h.tracer_version}};
  out.update(contents_json(k));
  return out;
}

}  // namespace

std::string info_json(const trace::TraceSet& trace, const std::vector<KernelInfo>& kernels,
                      const KernelInfo& all) {
  const std::vector<DeviceInfo> devices = devices_info(trace.commands());
  const CopyTotals copies = copies_of(devices);
  Json out = {
      {"schema", 1}, {"trace", trace.name()}, {"content_hash", fmt::format("{:016x}", trace.content_hash())}};
  out["copies"] = {{"to_device", copies.to_device},
                   {"to_device_bytes", copies.to_device_bytes},
                   {"to_host", copies.to_host},
                   {"to_host_bytes", copies.to_host_bytes}};
  if (devices.size() > 1) {
    Json& list = out["devices"] = Json::array();
    for (const DeviceInfo& d : devices)
      list.push_back({{"kernels", d.kernels},
                      {"to_device_bytes", d.copies.to_device_bytes},
                      {"to_host_bytes", d.copies.to_host_bytes},
                      {"peer_copies", d.peer_copies},
                      {"peer_bytes_to", d.peer_bytes_to},
                      {"multicast_bytes", d.multicast_bytes}});
  }
  if (const auto network = network_info(trace.commands()); !network.empty()) {
    Json& list = out["network"] = Json::array();
    for (const NetworkInfo& d : network) list.push_back(network_json(d));
  }
  Json& list = out["kernels"] = Json::array();
  for (const KernelInfo& k : kernels) list.push_back(kernel_json(k));
  out["total"] = contents_json(all);
  return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lockstep::cli
