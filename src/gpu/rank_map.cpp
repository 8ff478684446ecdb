#include "gpu/rank_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "gpu/cells.hpp"
#include "util/error.hpp"

namespace lockstep::gpu {
namespace {

constexpr sim::Rank kNoRank = 0xffffffff;

void check(const config::SystemConfig& system, sim::Rank ranks) {
  const std::uint32_t groups = serving_groups(system).back() + 1;
  if (ranks <= groups) return;
  const char* const what = groups == system.devices.size() ? "device" : "node";
  throw UserError(fmt::format("{} processes for the {} of {}; expected at most one for each {}", ranks,
                              groups == 1 ? fmt::format("one {}", what) : fmt::format("{} {}s", groups, what),
                              system.name.empty() ? system.devices.front().gpu.name : system.name, what));
}

/// NICs and hosts are with their devices.
void place_servers(const config::SystemConfig& system, std::vector<sim::Rank>& of_node) {
  for (std::uint32_t d = 0; d < system.devices.size(); ++d) {
    if (system.nics > 0) of_node[system.nic_of(d)] = of_node[d];
    if (system.hosts > 0) of_node[system.host_of(d)] = of_node[d];
  }
}

/// Switches that have no rank are with the first node that has one and a link to them.
void place_switches(const config::SystemConfig& system, std::vector<sim::Rank>& of_node) {
  for (bool any = true; any;) {
    any = false;
    for (const config::LinkEdge& edge : system.edges)
      for (const auto& [from, to] : {std::pair(edge.a, edge.b), std::pair(edge.b, edge.a)}) {
        if (of_node[from] == kNoRank || of_node[to] != kNoRank) continue;
        of_node[to] = of_node[from];
        any = true;
      }
  }
  std::ranges::replace(of_node, kNoRank, sim::Rank{0});
}

std::uint32_t node_of(const std::string& name, const config::SystemConfig& system, const std::string& file,
                      std::uint64_t line) {
  for (std::uint32_t node = 0; node < system.nodes(); ++node) {
    if (system.node_name(node) != name) continue;
    if (node < system.first_host() || node >= system.endpoints()) return node;
    throw InputError(file, line, fmt::format("found '{}', which has the rank of its devices", name));
  }
  throw InputError(file, line,
                   fmt::format("found '{}', expected a device (gpu0, ...) or switch of {}", name,
                               system.name.empty() ? "the system" : system.name));
}

sim::Rank rank_of(const std::string& text, sim::Rank ranks, const std::string& file, std::uint64_t line) {
  sim::Rank rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || rank >= ranks)
    throw InputError(file, line, fmt::format("found '{}', expected a rank from 0 to {}", text, ranks - 1));
  return rank;
}

void read_line(const std::string& text, const config::SystemConfig& system, sim::Rank ranks,
               const std::string& file, std::uint64_t line, std::vector<sim::Rank>& of_node) {
  std::istringstream words(text.substr(0, text.find('#')));
  std::string name, rank, more;
  if (!(words >> name)) return;
  words >> rank;
  if (words >> more) throw InputError(file, line, fmt::format("found '{}', expected NODE RANK", more));
  const std::uint32_t node = node_of(name, system, file, line);
  if (of_node[node] != kNoRank) throw InputError(file, line, name + " has a rank already");
  of_node[node] = rank_of(rank, ranks, file, line);
}

}  // namespace

std::vector<sim::Rank> spread(const config::SystemConfig& system, sim::Rank ranks) {
  check(system, ranks);
  std::vector<sim::Rank> of_node(system.nodes(), kNoRank);
  const std::vector<std::uint32_t> group = serving_groups(system);
  const std::uint32_t groups = group.back() + 1;
  for (std::size_t d = 0; d < group.size(); ++d) of_node[d] = group[d] * ranks / groups;
  place_servers(system, of_node);
  place_switches(system, of_node);
  return of_node;
}

std::vector<sim::Rank> read_rank_map(const std::string& file, const config::SystemConfig& system,
                                     sim::Rank ranks) {
  check(system, ranks);
  std::ifstream in(file);
  if (!in) throw UserError(file + ": cannot be read");
  std::vector<sim::Rank> of_node(system.nodes(), kNoRank);
  std::string text;
  for (std::uint64_t line = 1; std::getline(in, text); ++line)
    read_line(text, system, ranks, file, line, of_node);
  for (std::uint32_t d = 0; d < system.devices.size(); ++d)
    if (of_node[d] == kNoRank)
      throw UserError(
          fmt::format("{}: no rank for {}; expected a line for each device", file, system.node_name(d)));
  const std::vector<std::uint32_t> group = serving_groups(system);
  for (std::uint32_t d = 1; d < group.size(); ++d)
    if (group[d] == group[d - 1] && of_node[d] != of_node[d - 1])
      throw UserError(fmt::format("{}: {} and {} share a NIC or a host; expected one rank for both", file,
                                  system.node_name(d - 1), system.node_name(d)));
  for (sim::Rank r = 0; r < ranks; ++r)
    if (std::find(of_node.begin(), of_node.begin() + static_cast<std::ptrdiff_t>(system.devices.size()), r) ==
        of_node.begin() + static_cast<std::ptrdiff_t>(system.devices.size()))
      throw UserError(fmt::format("{}: no device for rank {} of {}", file, r, ranks));
  place_servers(system, of_node);
  place_switches(system, of_node);
  return of_node;
}

}  // namespace lockstep::gpu
