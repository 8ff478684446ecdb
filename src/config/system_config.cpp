// From a system's name or file to its devices and links.
#include "config/system_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>

#include "config/config.hpp"
#include "config/ini.hpp"
#include "config/products.hpp"
#include "config/suggest.hpp"
#include "config/value.hpp"
#include "util/error.hpp"

namespace lockstep::config {
namespace {

namespace fs = std::filesystem;

/// "NAME * COUNT" or "NAME"
std::pair<std::string, std::uint32_t> name_and_count(std::string_view text, const char* what) {
  const auto parts = split(text, '*');
  if (parts.size() > 2 || parts[0].empty())
    throw UserError(fmt::format("found '{}', expected {} or {} * COUNT", printable(text), what, what));
  std::uint64_t count = 1;
  if (parts.size() == 2) {
    const Parameter number = integer("the count", Measure::kNone, 1, kMaxDevices * 16, "", {});
    count = number_of(number, parts[1]);
  }
  return {std::string(parts[0]), static_cast<std::uint32_t>(count)};
}

/// A number of a [section] and its place.
struct Field {
  Parameter parameter;
  void (*set)(LinkKind&, std::uint64_t);
  std::uint64_t (*get)(const LinkKind&);
};
const std::vector<Field>& link_fields() {
  static const std::vector<Field> fields = {
      {integer("bytes_per_second", Measure::kBytesPerSecond, 100'000'000, 10'000'000'000'000, "", {}),
       [](LinkKind& k, std::uint64_t v) { k.bytes_per_second = v; },
       [](const LinkKind& k) { return k.bytes_per_second; }},
      {integer("latency_ps", Measure::kPicoseconds, 20'000, 1'000'000'000, "", {}),
       [](LinkKind& k, std::uint64_t v) { k.latency_ps = v; },
       [](const LinkKind& k) { return k.latency_ps; }},
      {integer("packet_bytes", Measure::kBytes, 32, 4096, "", {}),
       [](LinkKind& k, std::uint64_t v) { k.packet_bytes = static_cast<std::uint32_t>(v); },
       [](const LinkKind& k) -> std::uint64_t { return k.packet_bytes; }},
      {integer("header_bytes", Measure::kBytes, 1, 256, "", {}),
       [](LinkKind& k, std::uint64_t v) { k.header_bytes = static_cast<std::uint32_t>(v); },
       [](const LinkKind& k) -> std::uint64_t { return k.header_bytes; }},
      {integer("store_bytes", Measure::kBytes, 0, 256, "", {}),
       [](LinkKind& k, std::uint64_t v) { k.store_bytes = static_cast<std::uint32_t>(v); },
       [](const LinkKind& k) -> std::uint64_t { return k.store_bytes; }},
      {integer("ack_bytes", Measure::kBytes, 1, 256, "", {}),
       [](LinkKind& k, std::uint64_t v) { k.ack_bytes = static_cast<std::uint32_t>(v); },
       [](const LinkKind& k) -> std::uint64_t { return k.ack_bytes; }},
  };
  return fields;
}

struct PortField {
  Parameter parameter;
  std::uint32_t SystemConfig::*field;
};
const std::vector<PortField>& port_fields() {
  static const std::vector<PortField> fields = {
      {integer("lanes", Measure::kNone, 1, 16, "", {}), &SystemConfig::port_lanes},
      {integer("lane_bytes", Measure::kBytes, 16, 128, "", {}), &SystemConfig::port_lane_bytes},
      {integer("accesses", Measure::kNone, 1, 1 << 20, "", {}), &SystemConfig::port_accesses},
      {integer("copy_lines", Measure::kNone, 1, 1 << 20, "", {}), &SystemConfig::copy_lines},
      {integer("copy_start_ps", Measure::kPicoseconds, 0, 1'000'000'000, "", {}),
       &SystemConfig::copy_start_ps},
  };
  return fields;
}

class SystemReader {
 public:
  /// `folder`: of the file, from where it names files of devices.
  SystemReader(SystemConfig& to, fs::path folder, const std::vector<std::string>& overrides)
      : to_(&to), folder_(std::move(folder)), overrides_(&overrides) {}

  /// [system], then switches and kinds of links come before what names them.
  void read(const IniText& ini) {
    for (const Assignment& include : ini.includes)
      throw InputError(include.file, include.line, "a system includes nothing; expected [system]");
    const auto pass = [&](Pass now) {
      for (const Assignment& a : ini.assignments) {
        if (pass_of(a.key) != now) continue;
        try {
          now == Pass::kEdges ? add_edges(a) : set(a);
        } catch (const InputError&) {
          throw;
        } catch (const UserError& e) {
          throw InputError(a.file, a.line, e.what());
        }
      }
    };
    pass(Pass::kSystem);
    pass(Pass::kSections);
    check_kinds(ini);
    pass(Pass::kEdges);
  }

 private:
  enum class Pass : std::uint8_t { kSystem, kSections, kEdges };
  static Pass pass_of(std::string_view key) {
    if (key.starts_with("system.")) return Pass::kSystem;
    return key.starts_with("edges.") ? Pass::kEdges : Pass::kSections;
  }

  void set(const Assignment& a) {
    const std::size_t dot = a.key.find('.');
    if (dot == std::string::npos)
      throw UserError(
          fmt::format("'{}' stands in no section; expected [system], [port], [edges] or that of a "
                      "kind of link",
                      printable(a.key)));
    const std::string section = a.key.substr(0, dot), key = a.key.substr(dot + 1);
    if (!seen_.insert(a.key).second) throw UserError(fmt::format("duplicate key '{}'", printable(key)));
    if (section == "system") return set_system(key, a.value);
    if (section == "port") return set_port(key, a.value);
    if (std::ranges::find(to_->switches, section) != to_->switches.end())
      return set_switch(section, key, a.value);
    set_kind(section, key, a.value);
  }

  void set_system(const std::string& key, const std::string& value) {
    if (key == "devices") return add_devices(value);
    if (key == "name") {
      to_->name = value;
      return;
    }
    if (key != "switches") unknown(key, {"name", "devices", "switches"});
    for (const std::string_view name : split(value, ',')) {
      if (name.empty() || name == "all" || name.starts_with("gpu"))
        throw UserError(fmt::format("'{}' cannot be a switch's name", printable(name)));
      if (std::ranges::find(to_->switches, name) != to_->switches.end())
        throw UserError(fmt::format("two switches '{}'", printable(name)));
      to_->switches.emplace_back(name);
    }
  }

  void add_devices(const std::string& value) {
    for (const std::string_view part : split(value, ',')) {
      const auto [product, count] = name_and_count(part, "PRODUCT");
      const fs::path beside = folder_ / product;
      std::error_code error;
      const bool is_file = !embedded_ini(product) && fs::exists(beside, error);
      const GpuConfig device = resolve(is_file ? beside.string() : product, *overrides_);
      if (to_->devices.size() + count > kMaxDevices)
        throw UserError(fmt::format("more than {} devices", kMaxDevices));
      to_->devices.insert(to_->devices.end(), count, device);
    }
  }

  void set_switch(const std::string& name, const std::string& key, const std::string& value) {
    if (key != "multicast") unknown(key, {"multicast"});
    if (value != "true" && value != "false")
      throw UserError(fmt::format("found '{}', expected true or false", printable(value)));
    if (value == "true") to_->multicast.insert(name);
  }

  void set_port(const std::string& key, const std::string& value) {
    std::vector<std::string_view> names;
    for (const PortField& field : port_fields()) {
      if (field.parameter.key == key) {
        to_->*field.field = static_cast<std::uint32_t>(number_of(field.parameter, value));
        return;
      }
      names.push_back(field.parameter.key);
    }
    unknown(key, names);
  }

  void set_kind(const std::string& section, const std::string& key, const std::string& value) {
    auto kind = std::ranges::find(to_->kinds, section, &LinkKind::name);
    if (kind == to_->kinds.end()) {
      to_->kinds.emplace_back().name = section;
      kind = to_->kinds.end() - 1;
    }
    std::vector<std::string_view> names;
    for (const Field& field : link_fields()) {
      if (field.parameter.key == key) return field.set(*kind, number_of(field.parameter, value));
      names.push_back(field.parameter.key);
    }
    unknown(key, names);
  }

  [[noreturn]] static void unknown(const std::string& key, const std::vector<std::string_view>& names) {
    throw UserError(fmt::format("unknown key '{}'{}", printable(key), suggestion(key, names)));
  }

  void check_kinds(const IniText& ini) const {
    const std::string file = ini.assignments.empty() ? to_->name : ini.assignments.front().file;
    if (to_->devices.empty())
      throw InputError(file, 0, "[system] has no 'devices'; expected PRODUCT * COUNT");
    for (const LinkKind& kind : to_->kinds)
      for (const Field& field : link_fields())
        if (!seen_.contains(kind.name + "." + field.parameter.key))
          throw InputError(file, 0,
                           fmt::format("[{}] has no '{}'; expected {}", kind.name, field.parameter.key,
                                       expected_text(field.parameter)));
  }

  /// "gpu0.gpu1", "all.SWITCH", "all.all"
  void add_edges(const Assignment& a) {
    const auto ends = split(std::string_view(a.key).substr(6), '.');
    if (ends.size() != 2)
      throw UserError(fmt::format("found '{}', expected two nodes, such as gpu0.gpu1 or all.SWITCH",
                                  printable(std::string_view(a.key).substr(6))));
    if (ends[0] == ends[1] && ends[0] != "all") throw UserError("a link from a node to itself");
    const auto [kind, count] = name_and_count(a.value, "LINK");
    const auto found = std::ranges::find(to_->kinds, kind, &LinkKind::name);
    if (found == to_->kinds.end())
      throw UserError(
          fmt::format("'{}' is no kind of link; expected one that has a section", printable(kind)));
    const auto index = static_cast<std::uint32_t>(found - to_->kinds.begin());
    for (const std::uint32_t from : nodes(ends[0]))
      for (const std::uint32_t to : nodes(ends[1])) {
        const bool both = ends[0] == ends[1];
        if (both ? from >= to : from == to) continue;
        if (!pairs_.insert(std::minmax(from, to)).second)
          throw UserError("two nodes are linked twice; expected one line with their number of links");
        to_->edges.push_back({from, to, index, count});
      }
  }

  [[nodiscard]] std::vector<std::uint32_t> nodes(std::string_view name) const {
    const auto devices = static_cast<std::uint32_t>(to_->devices.size());
    std::vector<std::uint32_t> found;
    if (name == "all")
      for (std::uint32_t d = 0; d < devices; ++d) found.push_back(d);
    for (std::uint32_t d = 0; d < devices; ++d)
      if (name == fmt::format("gpu{}", d)) found.push_back(d);
    for (std::uint32_t s = 0; s < to_->switches.size(); ++s)
      if (name == to_->switches[s]) found.push_back(devices + s);
    if (found.empty())
      throw UserError(fmt::format("'{}' is no node; expected gpu0 to gpu{}, all, or a switch of [system]",
                                  printable(name), devices - 1));
    return found;
  }

  SystemConfig* to_;
  fs::path folder_;
  const std::vector<std::string>* overrides_;
  std::set<std::string> seen_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs_;
};

/// Only the first `count` devices stay, and links between what stays.
void keep_devices(SystemConfig& system, std::uint32_t count) {
  const auto all = static_cast<std::uint32_t>(system.devices.size());
  if (count > all) throw UserError(fmt::format("--gpus {}: {} has {} devices", count, system.name, all));
  system.devices.resize(count);
  std::erase_if(system.edges, [&](const LinkEdge& e) {
    return (e.a >= count && e.a < all) || (e.b >= count && e.b < all);
  });
  for (LinkEdge& edge : system.edges)
    for (std::uint32_t* end : {&edge.a, &edge.b})
      if (*end >= all) *end -= all - count;
}

}  // namespace

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
  SystemReader reader(system, text ? fs::path() : fs::path(file).parent_path(), overrides);
  reader.read(parse_ini(text ? std::string(*text) : read_text_file(file), file));
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
  out += "\n\n[port]\n";
  for (const PortField& field : port_fields())
    out += fmt::format("{} = {}\n", field.parameter.key, system.*field.field);
  for (const LinkKind& kind : system.kinds) {
    out += fmt::format("\n[{}]\n", kind.name);
    for (const Field& field : link_fields())
      out += fmt::format("{} = {}\n", field.parameter.key, field.get(kind));
  }
  for (const std::string& name : system.multicast) out += fmt::format("\n[{}]\nmulticast = true\n", name);
  if (!system.edges.empty()) out += "\n[edges]\n";
  const auto name = [&](std::uint32_t node) {
    return node < system.devices.size() ? fmt::format("gpu{}", node)
                                        : system.switches[node - system.devices.size()];
  };
  for (const LinkEdge& edge : system.edges)
    out += fmt::format("{}.{} = {} * {}\n", name(edge.a), name(edge.b), system.kinds[edge.kind].name,
                       edge.count);
  return out;
}

std::vector<std::uint32_t> SystemConfig::multicast_switches(std::uint32_t device) const {
  const auto count = static_cast<std::uint32_t>(devices.size());
  std::vector<std::uint32_t> found;
  for (const LinkEdge& edge : edges) {
    const std::uint32_t other = edge.a == device ? edge.b : edge.b == device ? edge.a : 0;
    if (other >= count && multicast.contains(switches[other - count])) found.push_back(other - count);
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::vector<std::uint32_t>> SystemConfig::routes() const {
  const auto count = static_cast<std::uint32_t>(devices.size());
  std::vector<std::vector<std::uint32_t>> routes(nodes(), std::vector<std::uint32_t>(count, kNoEdge));
  for (std::uint32_t target = 0; target < count; ++target) {
    // Breadth first from the target; what is reached over an edge sends back over it.
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
