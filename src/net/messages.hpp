// Messages from the host's program to service threads, and back.
#pragma once

#include <cstdint>

#include "sim/network.hpp"
#include "trace/host_task.hpp"
#include "trace/net_operation.hpp"
#include "util/types.hpp"

namespace lockstep::net {

/// As the trace's commands of that name say (trace/kernel_trace.hpp).
struct AgentNews {
  enum class Kind : std::uint8_t { kMemory, kQueue, kOperation, kTask } kind = Kind::kOperation;
  std::uint16_t device = 0;
  std::uint32_t queue = 0;  // kQueue: its number
  Address address = 0;      // kMemory, kQueue
  std::uint64_t bytes = 0;  // likewise
  Address index = 0;        // kQueue: the word that counts the finished entries
  trace::NetOperation operation{};
  trace::HostTask task{};     // kTask, of the device's process
  std::uint32_t command = 0;  // kTask: its number, for the end
};
using AgentNetwork = sim::Network<AgentNews>;

/// To the host's program: a task is complete.
struct TaskEnd {
  std::uint32_t command = 0;
  Time end = 0;
};
using TaskNetwork = sim::Network<TaskEnd>;

/// Where the doorbells of a NIC lie, in no device's memory: one line each.
inline constexpr Address kDoorbells = Address{1} << 60;
inline constexpr std::uint64_t kDoorbellBytes = 1 << 20;  // of each NIC
[[nodiscard]] constexpr Address doorbells_of(std::uint16_t node) {
  return kDoorbells + node * kDoorbellBytes;
}

/// Words that notify a host of messages to its processes: one for each message that may be under way from one
/// device's process to another's, used in turn. `number`: of the message among those.
inline constexpr Address kNotices = Address{1} << 61;
[[nodiscard]] constexpr Address notice_of(std::uint16_t from, std::uint16_t to, std::uint64_t number,
                                          std::uint32_t most) {
  constexpr Address kBytes = 64, kMaxDevices = 64, kMaxEntries = 4096;
  return kNotices + ((to * kMaxDevices + from) * kMaxEntries + number % most) * kBytes;
}

}  // namespace lockstep::net
