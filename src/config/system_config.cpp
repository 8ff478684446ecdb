// From a system's name or file to its devices and links.
#include "config/system_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>

#include "config/config.hpp"
#include "config/gpu_models.hpp"
#include "config/ini.hpp"
#include "config/network_fields.hpp"
#include "config/system_fields.hpp"
#include "config/system_reader.hpp"
#include "config/value.hpp"
#include "util/error.hpp"
#include "util/types.hpp"

namespace lockstep::config {
namespace {

namespace fs = std::filesystem;

/// Keeps only the first `count` devices, the hosts and NICs that serve them, and the links between these.
void keep_devices(SystemConfig& system, std::uint32_t count) {
  const auto all = static_cast<std::uint32_t>(system.devices.size());
  if (count > all) throw UserError(fmt::format("--gpus {}: {} has {} devices", count, system.name, all));
  if (system.nics > 0 && (count * system.nics % all != 0 || count * system.hosts % all != 0))
    throw UserError(fmt::format(
        "--gpus {}: {} has {} hosts and {} NICs for {} devices; expected a number of devices that "
        "whole ones of them serve",
        count, system.name, system.hosts, system.nics, all));
  const std::uint32_t first_host = system.first_host(), first_nic = system.first_nic(),
                      first_switch = system.endpoints();
  const std::uint32_t hosts = count * system.hosts / all, nics = count * system.nics / all;
  constexpr std::uint32_t kGone = SystemConfig::kNoEdge;
  const auto renumbered = [=](std::uint32_t node) {
    if (node < first_host) return node < count ? node : kGone;
    if (node < first_nic) return node - first_host < hosts ? node - first_host + count : kGone;
    if (node < first_switch) return node - first_nic < nics ? node - first_nic + count + hosts : kGone;
    return node - first_switch + count + hosts + nics;
  };
  system.devices.resize(count);
  system.hosts = hosts;
  system.nics = nics;
  for (LinkEdge& edge : system.edges)
    for (std::uint32_t* end : {&edge.a, &edge.b}) *end = renumbered(*end);
  std::erase_if(system.edges, [](const LinkEdge& e) { return e.a == kGone || e.b == kGone; });
}

/// The values that differ from the models' in the same way for all devices.
std::string devices_ini(const SystemConfig& system) {
  const auto values = overrides(system.devices.front());
  for (const GpuConfig& device : system.devices)
    if (overrides(device) != values) return "";
  std::string out = values.empty() ? "" : "\n[devices]\n";
  for (const auto& [key, value] : values) out += fmt::format("{} = {}\n", key, value);
  return out;
}

std::string network_ini(const SystemConfig& system) {
  std::string out = fmt::format("\n[node]\ndesign = {}\n", traits(system.network.node.design).name);
  std::string section;
  for (const NetworkField& field : network_fields()) {
    if (field.section != section) out += fmt::format("\n[{}]\n", section = field.section);
    out +=
        fmt::format("{} = {}  ; {}\n", field.parameter.key, field.get(system.network), field.parameter.help);
  }
  return out;
}

}  // namespace

std::uint32_t largest_message(const LinkKind& kind) {
  const std::uint32_t shared = (kind.header_bytes * kLineBytes + kind.packet_bytes - 1) / kind.packet_bytes;
  const std::uint32_t line = kLineBytes + std::max(kind.header_bytes + kind.store_bytes, shared);
  const std::uint32_t most = std::max(line, kind.ack_bytes);
  return link_models()[kind.model] == "flits"
             ? (most + kind.flit_bytes - 1) / kind.flit_bytes * kind.flit_bytes
             : most;
}

std::span<const std::string_view> link_models() {
  static constexpr std::string_view kNames[] = {"packets", "flits", "ideal"};
  return kNames;
}

bool means_system(const std::string& name_or_file) {
  if (is_system(name_or_file)) return true;
  std::error_code error;
  if (embedded_ini(name_or_file) || !fs::is_regular_file(name_or_file, error)) return false;
  for (const Assignment& a : parse_ini(read_text_file(name_or_file), name_or_file).assignments)
    if (a.key.starts_with("system.")) return true;
  return false;
}

SystemConfig resolve_system(const std::string& name_or_file, std::uint32_t devices,
                            const std::vector<std::string>& overrides) {
  SystemConfig system;
  const auto text = embedded_system(name_or_file);
  system.name = text ? name_or_file : fs::path(name_or_file).stem().string();
  const std::string file = text ? "systems/" + name_or_file + ".ini" : name_or_file;
  read_system(system, parse_ini(text ? std::string(*text) : read_text_file(file), file),
              text ? fs::path() : fs::path(file).parent_path(), overrides);
  if (devices > 0) keep_devices(system, devices);
  return system;
}

SystemConfig unlinked_system(const GpuConfig& device, std::uint32_t count) {
  SystemConfig system;
  system.name = device.gpu.name;
  system.devices.assign(count, device);
  return system;
}

std::string to_ini(const SystemConfig& system) {
  std::string out = fmt::format("[system]\nname = {}\ndevices = ", system.name);
  for (std::size_t d = 0; d < system.devices.size(); ++d)
    out += fmt::format("{}{}", d == 0 ? "" : ", ", system.devices[d].gpu.name);
  for (std::size_t s = 0; s < system.switches.size(); ++s)
    out += fmt::format("{}{}", s == 0 ? "\nswitches = " : ", ", system.switches[s]);
  if (system.nics > 0) out += fmt::format("\nhosts = {}\nnics = {}", system.hosts, system.nics);
  out += "\n" + devices_ini(system) + "\n[port]\n";
  for (const PortField& field : port_fields())
    out += fmt::format("{} = {}\n", field.parameter.key, system.*field.field);
  for (const LinkKind& kind : system.kinds) {
    out += fmt::format("\n[{}]\n", kind.name);
    out += fmt::format("model = {}\n", link_models()[kind.model]);
    for (const LinkField& field : link_fields())
      out += fmt::format("{} = {}\n", field.parameter.key, field.get(kind));
  }
  for (const std::string& name : system.multicast) out += fmt::format("\n[{}]\nmulticast = true\n", name);
  if (system.nics > 0) out += network_ini(system);
  if (!system.edges.empty()) out += "\n[edges]\n";
  for (const LinkEdge& edge : system.edges)
    out += fmt::format("{}.{} = {} * {}\n", system.node_name(edge.a), system.node_name(edge.b),
                       system.kinds[edge.kind].name, edge.count);
  return out;
}

std::string SystemConfig::node_name(std::uint32_t node) const {
  if (node < first_host()) return fmt::format("gpu{}", node);
  if (node < first_nic()) return fmt::format("host{}", node - first_host());
  return node < endpoints() ? fmt::format("nic{}", node - first_nic()) : switches[node - endpoints()];
}

std::vector<std::uint32_t> SystemConfig::multicast_switches(std::uint32_t device) const {
  const std::uint32_t count = endpoints();
  std::vector<std::uint32_t> found;
  for (const LinkEdge& edge : edges) {
    const std::uint32_t other = edge.a == device ? edge.b : edge.b == device ? edge.a : 0;
    if (other >= count && multicast.contains(switches[other - count])) found.push_back(other - count);
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::vector<std::uint32_t>> SystemConfig::routes() const {
  const std::uint32_t count = endpoints();
  std::vector<std::vector<std::uint32_t>> routes(nodes(), std::vector<std::uint32_t>(count, kNoEdge));
  for (std::uint32_t target = 0; target < count; ++target) {
    // Breadth first from the target; a node that is reached over an edge sends back over that edge.
    std::vector<bool> reached(nodes(), false);
    std::deque<std::uint32_t> queue{target};
    reached[target] = true;
    while (!queue.empty()) {
      const std::uint32_t node = queue.front();
      queue.pop_front();
      if (node < count && node != target) continue;
      for (std::uint32_t e = 0; e < edges.size(); ++e) {
        if (edges[e].a != node && edges[e].b != node) continue;
        const std::uint32_t other = edges[e].a == node ? edges[e].b : edges[e].a;
        if (reached[other]) continue;
        reached[other] = true;
        routes[other][target] = e;
        queue.push_back(other);
      }
    }
  }
  return routes;
}

}  // namespace lockstep::config
