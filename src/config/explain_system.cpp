// Help for the parameters of systems, made from the rows of their sections.
#include <fmt/format.h>

#include <algorithm>

#include "config/network_fields.hpp"
#include "config/suggest.hpp"
#include "config/system_config.hpp"
#include "config/system_fields.hpp"
#include "config/value.hpp"
#include "util/error.hpp"

namespace lockstep::config {
namespace {

struct Entry {
  std::string key;  // "section.key"
  std::string text;
};

Entry entry(const std::string& section, const Parameter& p, std::uint64_t value,
            const std::string& standard) {
  const std::string_view unit = info(p.measure).name;
  const std::string behind = unit.empty() ? "" : fmt::format(" {}", unit);
  return {
      fmt::format("{}.{}", section, p.key),
      fmt::format("{}.{} = {}{}\n    {}\n    type: integer{}{}\n    allowed: {}\n    default: {}\n", section,
                  p.key, value, behind, p.help, unit.empty() ? "" : ", ", unit, expected_text(p), standard)};
}

Entry named(const std::string& key, std::string_view value, const char* help,
            std::span<const std::string_view> names) {
  return {key, fmt::format("{} = {}\n    {}\n    type: name\n    allowed: {}\n    default: {}\n", key, value,
                           help, list_of(names), names.front())};
}

void add_links(const SystemConfig& system, std::vector<Entry>& all) {
  const LinkKind standard;
  for (const LinkKind& kind : system.kinds) {
    all.push_back(named(kind.name + ".model", link_models()[kind.model], "what a message costs on the wire",
                        link_models()));
    for (const LinkField& field : link_fields())
      all.push_back(entry(kind.name, field.parameter, field.get(kind),
                          field.optional ? std::to_string(field.get(standard)) : "none, it must be given"));
  }
}

void add_network(const SystemConfig& system, std::vector<Entry>& all) {
  if (system.nics == 0) return;
  const NetworkConfig standard;
  std::vector<std::string_view> designs;
  for (const NetDesignTraits& design : net_designs()) designs.push_back(design.name);
  all.push_back(named("node.design", traits(system.network.node.design).name,
                      "what serves the queues of kernels (docs/networking.md)", designs));
  for (const NetworkField& field : network_fields()) {
    all.push_back(entry(field.section, field.parameter, field.get(system.network),
                        std::to_string(field.get(standard))));
    all.back().text += fmt::format("    source of the default: {}\n", field.source);
  }
}

std::vector<Entry> entries(const SystemConfig& system) {
  std::vector<Entry> all;
  const SystemConfig standard;
  for (const PortField& field : port_fields())
    all.push_back(entry("port", field.parameter, system.*field.field, std::to_string(standard.*field.field)));
  add_links(system, all);
  add_network(system, all);
  return all;
}

[[noreturn]] void unknown(const std::string& wanted, const SystemConfig& system,
                          const std::vector<Entry>& all) {
  if (find(wanted).parameter)
    throw UserError(fmt::format("'{}' is a parameter of a GPU; expected `lockstep config {} --explain {}`",
                                wanted, system.devices.front().gpu.name, wanted));
  std::vector<std::string_view> names;
  for (const Entry& one : all) {
    names.emplace_back(one.key);
    names.push_back(names.back().substr(0, one.key.find('.')));
  }
  throw UserError(fmt::format("{} has no parameter or section '{}'{}", system.name, printable(wanted),
                              key_suggestion(wanted, names)));
}

}  // namespace

std::string explain(const std::string& key_or_section, const SystemConfig& system) {
  const std::vector<Entry> all = entries(system);
  std::string out;
  for (const Entry& one : all) {
    const bool belongs =
        key_or_section.empty() || one.key == key_or_section || one.key.starts_with(key_or_section + ".");
    if (belongs) out += (out.empty() ? "" : "\n") + one.text;
  }
  if (out.empty()) unknown(key_or_section, system, all);
  return out;
}

}  // namespace lockstep::config
