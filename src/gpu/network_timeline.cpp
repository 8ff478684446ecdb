#include "gpu/network_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "stats/network_report.hpp"

namespace lockstep::gpu {
namespace {

using Operation = net::OperationLog::Operation;
using NetworkRow = NetworkTimeline::Row;

/// Their rows follow those of kernels and copies.
constexpr std::uint64_t kFirstNetworkRow = std::uint64_t{1} << 20;

/// Slices that follow each other, and overlap those of others.
struct Group {
  std::uint64_t from = 0, to = 0;
  std::vector<NetworkTimeline::Slice> slices;
};

std::uint64_t at(const Operation& of, net::Moment m) { return of.at[static_cast<std::size_t>(m)]; }
std::string_view kind_name(const Operation& of) {
  return stats::kNetworkKinds[static_cast<std::size_t>(of.what.kind)];
}

std::string args_of(const Operation& of, const config::SystemConfig& system) {
  std::string args = fmt::format("\"queue\":{},\"blocking\":{}", of.what.queue, of.blocking);
  if (of.what.kind != trace::NetOperation::Kind::kQuiet)
    args += fmt::format(",\"bytes\":{},\"target\":\"{}\"", of.what.bytes, system.node_name(of.what.target));
  return args;
}

/// As the statistics count them (net::StageTimes, net::AroundTimes).
Group stages_of(const Operation& of, const config::SystemConfig& system) {
  Group group{of.around.begun, of.around.begun, {}};
  const auto stage = [&](std::size_t number, std::uint64_t end) {
    if (end <= group.to) return;
    group.slices.push_back({fmt::format("{} {}", kind_name(of), stats::kNetworkStages[number]),
                            args_of(of, system), group.to, end});
    group.to = end;
  };
  stage(0, of.around.written);
  stage(1, of.around.visible);
  stage(2, of.at[0]);
  const std::size_t last = of.blocking ? net::kMoments - 1 : net::kMoments - 2;
  for (std::size_t m = 1; m <= last; ++m) stage(stats::kStagesBeforeAgent + m - 1, of.at[m]);
  stage(stats::kNetworkStages.size() - 1, of.around.returned);
  return group;
}

Group command_of(const Operation& of, const config::SystemConfig& system) {
  const std::uint64_t from = at(of, net::Moment::kRung), to = at(of, net::Moment::kComplete);
  return {from, to, {{std::string(kind_name(of)), args_of(of, system), from, to}}};
}

/// Each group in the first row that is free.
void put_rows(std::vector<NetworkRow>& rows, std::uint32_t node, const char* name,
              std::vector<Group> groups) {
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.from < b.from; });
  std::vector<NetworkRow> own;
  std::vector<std::uint64_t> free_from;
  for (Group& group : groups) {
    const auto free = std::ranges::find_if(free_from, [&](std::uint64_t ps) { return ps <= group.from; });
    const auto place = static_cast<std::size_t>(free - free_from.begin());
    if (place == own.size()) {
      own.push_back({node, fmt::format("{} {}", name, place), {}});
      free_from.push_back(0);
    }
    free_from[place] = group.to;
    for (NetworkTimeline::Slice& slice : group.slices) own[place].slices.push_back(std::move(slice));
  }
  rows.insert(rows.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
}

NetworkRow work_of(const AgentLog& agent) {
  constexpr std::array<const char*, 2> kWork = {"call", "complete"};
  NetworkRow row{agent.node, agent.name, {}};
  for (const net::OperationLog::Span& span : agent.log.work)
    row.slices.push_back({agent.process ? std::string(stats::kHostTaskNames[span.what]) : kWork[span.what],
                          {},
                          span.from,
                          span.to});
  return row;
}

}  // namespace

NetworkTimeline network_timeline(const config::SystemConfig& system, const std::deque<AgentLog>& agents) {
  NetworkTimeline all;
  for (std::uint32_t node = system.first_host(); node < system.endpoints(); ++node)
    all.nodes.emplace_back(node, system.node_name(node));
  std::vector<std::vector<Group>> of_device(system.endpoints()), of_nic(system.endpoints());
  for (const AgentLog& agent : agents)
    for (const Operation& operation : agent.log.operations) {
      of_device[operation.device].push_back(stages_of(operation, system));
      if (at(operation, net::Moment::kRung) > 0)
        of_nic[system.nic_of(operation.device)].push_back(command_of(operation, system));
    }
  for (std::uint32_t node = 0; node < system.endpoints(); ++node) {
    for (const AgentLog& agent : agents)
      if (agent.node == node && !agent.name.empty()) all.rows.push_back(work_of(agent));
    put_rows(all.rows, node, "network operations", std::move(of_device[node]));
    put_rows(all.rows, node, "commands", std::move(of_nic[node]));
  }
  return all;
}

void put_network(TimelineWriter& out, const NetworkTimeline& network) {
  for (const auto& [node, name] : network.nodes) {
    out.node(node);
    out.name_node(name);
  }
  std::uint64_t number = kFirstNetworkRow;
  for (const NetworkRow& row : network.rows) {
    out.node(row.node);
    out.row(number, row.name);
    for (const NetworkTimeline::Slice& slice : row.slices)
      out.span_ps(number, slice.name, slice.from, slice.to, slice.args);
    ++number;
  }
}

}  // namespace lockstep::gpu
