#include "config/system_names.hpp"

#include <fmt/format.h>

#include "config/value.hpp"
#include "util/error.hpp"

namespace lockstep::config {

std::optional<std::uint32_t> node_named(const SystemConfig& system, std::string_view name) {
  for (std::uint32_t n = 0; n < system.nodes(); ++n)
    if (name == system.node_name(n)) return n;
  return std::nullopt;
}

std::vector<std::uint32_t> nodes_named(const SystemConfig& system, std::string_view name) {
  std::vector<std::uint32_t> found;
  const auto add = [&](std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t n = first; n < end; ++n) found.push_back(n);
  };
  if (name == "all") add(0, system.first_host());
  if (name == "hosts") add(system.first_host(), system.first_nic());
  if (name == "nics") add(system.first_nic(), system.endpoints());
  if (const auto one = node_named(system, name)) found.push_back(*one);
  if (found.empty())
    throw UserError(fmt::format("'{}' is not a node; expected gpu0 to gpu{}, all, {}or a switch of [system]",
                                printable(name), system.first_host() - 1,
                                system.nics > 0 ? "hosts, nics, one of these by its number, " : ""));
  return found;
}

}  // namespace lockstep::config
