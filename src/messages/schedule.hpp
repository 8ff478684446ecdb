// The calls of all processes of an MPI program as tasks of their hosts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/algorithms.hpp"
#include "messages/recording.hpp"
#include "trace/host_task.hpp"

namespace lockstep::messages {

struct Protocol {
  /// Longer messages go by rendezvous. Open MPI's default for InfiniBand (btl_openib_eager_limit).
  std::uint64_t eager_bytes = 12288;
  AllReduce all_reduce = AllReduce::kAuto;
};

struct PlacedTask {
  std::uint64_t position = 0;  // commands of the process's CUDA trace before it
  trace::HostTask task;
  bool reads_clock = false;  // no task: the process reads its clock
};

/// By process, each in the order of its calls. Messages are matched as MPI does: the k-th receive of a
/// source, a tag and a communicator gets the k-th send; a receive with wildcards counts as one of what it has
/// got. Receives that got nothing are left out. Throws UserError where recordings do not fit together.
[[nodiscard]] std::vector<std::vector<PlacedTask>> schedule(const std::vector<Recording>& processes,
                                                            const Protocol& protocol);

}  // namespace lockstep::messages
