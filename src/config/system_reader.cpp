#include "config/system_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "config/config.hpp"
#include "config/gpu_models.hpp"
#include "config/network_fields.hpp"
#include "config/override_error.hpp"
#include "config/suggest.hpp"
#include "config/system_checks.hpp"
#include "config/system_fields.hpp"
#include "config/system_names.hpp"
#include "config/topology.hpp"
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

class SystemReader {
 public:
  /// `folder`: the file's, to which paths of device files are relative.
  SystemReader(SystemConfig& to, fs::path folder, const std::vector<std::string>& overrides)
      : to_(&to), folder_(std::move(folder)), overrides_(&overrides) {}

  /// [system] and [topology] are read first, then switches and kinds of links, then the sections that name
  /// them.
  void read(const IniText& ini) {
    for (const Assignment& include : ini.includes)
      throw InputError(include.file, include.line, "a system includes nothing; expected [system]");
    for (const Assignment& a : ini.assignments)
      if (is_of_devices(a)) add_device_value(a);
    const auto pass = [&](Pass now) {
      for (const Assignment& a : ini.assignments)
        if (!is_of_devices(a) && pass_of(a.key) == now)
          located(a, [&] { now == Pass::kEdges ? add_edges(a) : set(a); });
    };
    pass(Pass::kSystem);
    check_devices(ini);
    if (!topology_.empty()) located(topology_.begin()->second, [&] { generate(); });
    pass(Pass::kSections);
    check_kinds(ini);
    add_generated();
    pass(Pass::kEdges);
    check_nodes(ini);
  }

 private:
  enum class Pass : std::uint8_t { kSystem, kSections, kEdges };
  static Pass pass_of(std::string_view key) {
    if (key.starts_with("system.") || key.starts_with("topology.")) return Pass::kSystem;
    return key.starts_with("edges.") ? Pass::kEdges : Pass::kSections;
  }

  /// A parameter of GPUs, by its full name, as in [devices]: overrides the model's value on every device.
  [[nodiscard]] static bool is_of_devices(const Assignment& a) {
    return find(a.key).parameter != nullptr || a.key.starts_with("devices.");
  }
  void add_device_value(const Assignment& a) {
    located(a, [&] {
      if (a.key.starts_with("devices."))
        throw UserError(fmt::format("'{}' is no parameter of a GPU{}", printable(a.key.substr(8)),
                                    suggestion_for_key(a.key.substr(8))));
      if (!seen_.insert(a.key).second) throw UserError(fmt::format("duplicate key '{}'", printable(a.key)));
    });
    device_values_.push_back(a);
  }

  /// Adds the place of `a` to errors of act().
  template <class Act>
  static void located(const Assignment& a, Act&& act) {
    try {
      act();
    } catch (const InputError&) {
      throw;
    } catch (const OverrideError& e) {
      throw UserError(fmt::format("{} (of a system, --set changes the GPUs)", e.what()));
    } catch (const UserError& e) {
      throw InputError(a.file, a.line, e.what());
    }
  }

  void set(const Assignment& a) {
    const std::size_t dot = a.key.find('.');
    if (dot == std::string::npos)
      throw UserError(fmt::format(
          "'{}' stands in no section; expected [system], [devices], [topology], [port], [edges] or that of a "
          "kind of link",
          printable(a.key)));
    const std::string section = a.key.substr(0, dot), key = a.key.substr(dot + 1);
    if (!seen_.insert(a.key).second) throw UserError(fmt::format("duplicate key '{}'", printable(key)));
    if (section == "system") return set_system(key, a.value);
    if (section == "port") return set_port(key, a.value);
    if (is_network_section(section)) return set_network(section, key, a.value);
    if (section == "topology") {
      topology_.emplace(key, a);
      return;
    }
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
    if (key == "hosts" || key == "nics") {
      const Parameter number = integer(key, Measure::kNone, 0, kMaxDevices, "", {});
      (key == "hosts" ? to_->hosts : to_->nics) = static_cast<std::uint32_t>(number_of(number, value));
      return;
    }
    if (key != "switches") unknown_key(key, {"name", "devices", "switches", "hosts", "nics"});
    for (const std::string_view part : split(value, ',')) add_switches(part);
  }

  /// "NAME", or "NAME * COUNT": NAME0, NAME1, ...
  void add_switches(std::string_view text) {
    if (text.find('*') == std::string_view::npos) return add_switch(text);
    const auto [name, count] = name_and_count(text, "NAME");
    for (std::uint32_t i = 0; i < count; ++i) add_switch(fmt::format("{}{}", name, i));
  }

  void add_switch(std::string_view name) {
    constexpr std::string_view kSections[] = {"system", "devices", "topology", "port", "edges"};
    const bool reserved = name == "all" || name == "hosts" || name == "nics" || name.starts_with("gpu") ||
                          is_network_section(name) || numbered(name, "host") || numbered(name, "nic") ||
                          std::ranges::find(kSections, name) != std::end(kSections);
    if (name.empty() || reserved)
      throw UserError(fmt::format("'{}' cannot be a switch's name", printable(name)));
    if (std::ranges::find(to_->switches, name) != to_->switches.end())
      throw UserError(fmt::format("two switches '{}'", printable(name)));
    to_->switches.emplace_back(name);
  }

  void add_devices(const std::string& value) {
    for (const std::string_view part : split(value, ',')) {
      const auto [gpu, count] = name_and_count(part, "GPU");
      const fs::path beside = folder_ / gpu;
      std::error_code error;
      const bool is_file = !embedded_ini(gpu) && fs::exists(beside, error);
      if (!is_file && !embedded_ini(gpu)) throw UserError(unknown_gpu(gpu));
      const GpuConfig device = resolve(is_file ? beside.string() : gpu, device_values_, *overrides_);
      if (to_->devices.size() + count > kMaxDevices)
        throw UserError(fmt::format("more than {} devices", kMaxDevices));
      to_->devices.insert(to_->devices.end(), count, device);
    }
  }

  void set_switch(const std::string& name, const std::string& key, const std::string& value) {
    if (key != "multicast") unknown_key(key, {"multicast"});
    if (value != "true" && value != "false")
      throw UserError(fmt::format("found '{}', expected true or false", printable(value)));
    if (value == "true") to_->multicast.insert(name);
  }

  /// `stem` and a number.
  [[nodiscard]] static bool numbered(std::string_view name, std::string_view stem) {
    return name.starts_with(stem) && name.size() > stem.size() &&
           name.find_first_not_of("0123456789", stem.size()) == std::string_view::npos;
  }

  void set_network(const std::string& section, const std::string& key, const std::string& value) {
    if (to_->nics == 0)
      throw UserError(
          fmt::format("[{}] says nothing of a system without NICs; expected 'nics' in [system]", section));
    set_network_value(to_->network, section, key, value);
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
    unknown_key(key, names);
  }

  void set_kind(const std::string& section, const std::string& key, const std::string& value) {
    auto kind = std::ranges::find(to_->kinds, section, &LinkKind::name);
    if (kind == to_->kinds.end()) {
      to_->kinds.emplace_back().name = section;
      kind = to_->kinds.end() - 1;
    }
    if (key == "model") {
      kind->model = index_of(link_models(), value);
      return;
    }
    std::vector<std::string_view> names{"model"};
    for (const LinkField& field : link_fields()) {
      if (field.parameter.key == key) return field.set(*kind, number_of(field.parameter, value));
      names.push_back(field.parameter.key);
    }
    unknown_key(key, names);
  }

  // --- [topology] ---

  [[nodiscard]] const Assignment* topology_key(std::string_view key) const {
    const auto found = topology_.find(key);
    return found == topology_.end() ? nullptr : &found->second;
  }

  /// Builds the graph and its switches, which sections may name.
  void generate() {
    const Assignment* kind = topology_key("kind");
    if (!kind) throw UserError("[topology] has no 'kind'");
    located(*kind, [&] {
      const Topology& chosen = topology(kind->value);
      check_topology_keys(chosen);
      graph_ = chosen.generate(topology_nodes(), [&](std::string_view key) {
        const Assignment* a = topology_key(key);
        if (!a) throw UserError(fmt::format("[topology] has no '{}', which {} needs", key, chosen.name));
        std::uint32_t number = 0;
        located(*a, [&] {
          const Parameter row = integer(std::string(key), Measure::kNone, 1, kMaxDevices, "", {});
          number = static_cast<std::uint32_t>(number_of(row, a->value));
        });
        return number;
      });
      first_switch_ = static_cast<std::uint32_t>(to_->switches.size());
      for (const std::string& name : graph_.switches) add_switch(name);
    });
  }

  /// It connects NICs if there are any, otherwise devices.
  [[nodiscard]] std::uint32_t topology_nodes() const {
    return to_->nics > 0 ? to_->nics : static_cast<std::uint32_t>(to_->devices.size());
  }

  void check_topology_keys(const Topology& chosen) const {
    std::vector<std::string_view> names{"kind", "link", "attach"};
    for (const TopologyParameter& parameter : chosen.parameters) names.push_back(parameter.key);
    for (const auto& entry : topology_) {
      const auto& key = entry.first;  // clang 14 cannot capture structured bindings in lambdas
      located(entry.second, [&] {
        if (std::ranges::find(names, key) == names.end()) unknown_key(key, names);
      });
    }
  }

  /// The graph's links; `attach` is the kind between devices and switches if it differs from the others.
  void add_generated() {
    if (topology_.empty()) return;
    const Assignment* link = topology_key("link");
    const Assignment* attach = topology_key("attach");
    if (attach && graph_.attached.empty())
      located(*attach, [] { throw UserError("'attach': this topology attaches no device to a switch"); });
    if (link) located(*link, [&] { (void)link_of(link->value); });  // checked even if it is not used
    add_generated(graph_.attached, attach ? attach : link, "attach' or 'link");
    add_generated(graph_.between, link, "link");
  }
  void add_generated(const std::vector<TopologyGraph::Edge>& edges, const Assignment* how, const char* key) {
    if (edges.empty()) return;
    if (!how)
      throw InputError(topology_.begin()->second.file, topology_.begin()->second.line,
                       fmt::format("[topology] has no '{}'; expected LINK or LINK * COUNT", key));
    // The graph numbers its switches after its devices or NICs; those of [system] come before them.
    const std::uint32_t ends = topology_nodes();
    const auto node = [&](std::uint32_t n) {
      if (n >= ends) return n - ends + to_->endpoints() + first_switch_;
      return to_->nics > 0 ? n + to_->first_nic() : n;
    };
    located(*how, [&] {
      const auto [kind, count] = link_of(how->value);
      for (const TopologyGraph::Edge& edge : edges) add_edge(node(edge.a), node(edge.b), kind, count);
    });
  }

  // --- Checks, edges ---

  static std::string file_of(const SystemConfig& system, const IniText& ini) {
    return ini.assignments.empty() ? system.name : ini.assignments.front().file;
  }
  void check_devices(const IniText& ini) const {
    if (to_->devices.empty())
      throw InputError(file_of(*to_, ini), 0, "[system] has no 'devices'; expected GPU * COUNT");
  }
  void check_kinds(const IniText& ini) const {
    const std::string file = file_of(*to_, ini);
    for (const LinkKind& kind : to_->kinds)
      for (const LinkField& field : link_fields())
        if (!field.optional && !seen_.contains(kind.name + "." + field.parameter.key))
          throw InputError(file, 0,
                           fmt::format("[{}] has no '{}'; expected {}", kind.name, field.parameter.key,
                                       expected_text(field.parameter)));
    check_credits(file);
  }
  void check_credits(const std::string& file) const {
    for (const LinkKind& kind : to_->kinds)
      for (const auto& [key, bytes] : {std::pair("request_credit_bytes", kind.request_credit_bytes),
                                       std::pair("reply_credit_bytes", kind.reply_credit_bytes)})
        if (bytes > 0 && bytes < largest_message(kind))
          throw InputError(
              file, 0,
              fmt::format("[{}] {} = {} B; expected 0, for enough, or at least {} B, the largest "
                          "message",
                          kind.name, key, bytes, largest_message(kind)));
  }

  void check_nodes(const IniText& ini) const {
    try {
      config::check_nodes(*to_);
    } catch (const UserError& e) {
      throw InputError(file_of(*to_, ini), 0, e.what());
    }
  }

  /// "gpu0.gpu1", "all.SWITCH", "all.all"; "gpuN.nicN": gpu0.nic0, gpu1.nic1, ...
  void add_edges(const Assignment& a) {
    const auto ends = split(std::string_view(a.key).substr(6), '.');
    if (ends.size() != 2)
      throw UserError(fmt::format("found '{}', expected two nodes, such as gpu0.gpu1 or all.SWITCH",
                                  printable(std::string_view(a.key).substr(6))));
    if (ends[0] == ends[1] && ends[0] != "all") throw UserError("a link from a node to itself");
    const auto [index, count] = link_of(a.value);
    if (ends[0].ends_with('N') && ends[1].ends_with('N') && !node_named(*to_, ends[0]) &&
        !node_named(*to_, ends[1]))
      return add_pairs(ends[0], ends[1], index, count);
    for (const std::uint32_t from : nodes_named(*to_, ends[0]))
      for (const std::uint32_t to : nodes_named(*to_, ends[1])) {
        const bool both = ends[0] == ends[1];
        if (both ? from >= to : from == to) continue;
        add_edge(from, to, index, count);
      }
  }
  /// For all indices for which both nodes exist.
  void add_pairs(std::string_view from, std::string_view to, std::uint32_t kind, std::uint32_t count) {
    from.remove_suffix(1);
    to.remove_suffix(1);
    std::uint32_t pairs = 0;
    for (;; ++pairs) {
      const auto a = node_named(*to_, fmt::format("{}{}", from, pairs)),
                 b = node_named(*to_, fmt::format("{}{}", to, pairs));
      if (!a || !b) break;
      add_edge(*a, *b, kind, count);
    }
    if (pairs == 0)
      throw UserError(fmt::format("'{}N.{}N' names no nodes; expected two by these names and a number",
                                  printable(from), printable(to)));
  }
  void add_edge(std::uint32_t from, std::uint32_t to, std::uint32_t kind, std::uint32_t count) {
    if (!pairs_.insert(std::minmax(from, to)).second)
      throw UserError("two nodes are linked twice; expected one line with their number of links");
    to_->edges.push_back({from, to, kind, count});
  }
  /// "KIND * COUNT": the kind's index, and the count.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> link_of(std::string_view text) const {
    const auto [kind, count] = name_and_count(text, "LINK");
    const auto found = std::ranges::find(to_->kinds, kind, &LinkKind::name);
    if (found == to_->kinds.end())
      throw UserError(
          fmt::format("'{}' is not a kind of link; expected one that has a section", printable(kind)));
    return {static_cast<std::uint32_t>(found - to_->kinds.begin()), count};
  }

  SystemConfig* to_;
  fs::path folder_;
  const std::vector<std::string>* overrides_;
  std::set<std::string> seen_;
  std::vector<Assignment> device_values_;  // from [devices]
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs_;
  std::map<std::string, Assignment, std::less<>> topology_;  // by key
  TopologyGraph graph_;
  std::uint32_t first_switch_ = 0;  // the graph's first, in SystemConfig::switches
};

}  // namespace

void read_system(SystemConfig& to, const IniText& ini, const fs::path& folder,
                 const std::vector<std::string>& overrides) {
  SystemReader(to, folder, overrides).read(ini);
}

}  // namespace lockstep::config
