// The rows of a timeline that show a system's network: operations, agents, NICs.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "config/system_config.hpp"
#include "gpu/timeline_writer.hpp"
#include "net/operation_log.hpp"

namespace lockstep::gpu {

/// What an agent has done. Agents are service threads, processes of hosts, and NICs with queues of their own.
struct AgentLog {
  std::uint32_t node = 0;  // of the system
  std::string name;        // of its row; empty: it has none
  bool process = false;    // its work are tasks
  net::OperationLog log;

  template <class A>
  void persist(A& a) {
    a.members(*this, node, name, process, log);
  }
};

struct NetworkTimeline {
  struct Slice {
    std::string name, args;          // args: members of an object
    std::uint64_t from = 0, to = 0;  // ps
  };
  /// Slices do not overlap.
  struct Row {
    std::uint32_t node = 0;
    std::string name;
    std::vector<Slice> slices;
  };
  std::vector<std::pair<std::uint32_t, std::string>> nodes;  // hosts and NICs
  std::vector<Row> rows;                                     // by node
};

/// For each device its operations, in as many rows as are in flight at a time, with one slice for each stage
/// of the statistics that took any time; for each NIC the operations from the doorbell to the completion; for
/// each agent what it was busy with. Does not depend on the order of the agents' ends.
[[nodiscard]] NetworkTimeline network_timeline(const config::SystemConfig& system,
                                               const std::deque<AgentLog>& agents);

void put_network(TimelineWriter& out, const NetworkTimeline& network);

}  // namespace lockstep::gpu
