// What service threads hear from the host's program.
#pragma once

#include <cstdint>

#include "sim/network.hpp"
#include "trace/net_operation.hpp"
#include "util/types.hpp"

namespace lockstep::net {

/// As the trace's commands of that name say (trace/kernel_trace.hpp).
struct AgentNews {
  enum class Kind : std::uint8_t { kMemory, kQueue, kOperation } kind = Kind::kOperation;
  std::uint16_t device = 0;
  std::uint32_t queue = 0;  // kQueue: its number
  Address address = 0;      // kMemory, kQueue
  std::uint64_t bytes = 0;  // likewise
  Address index = 0;        // kQueue: the word that counts the entries dealt with
  trace::NetOperation operation{};
};
using AgentNetwork = sim::Network<AgentNews>;

/// Where the doorbells of a NIC lie, in no device's memory: one line each.
inline constexpr Address kDoorbells = Address{1} << 60;
inline constexpr std::uint64_t kDoorbellBytes = 1 << 20;  // of each NIC
[[nodiscard]] constexpr Address doorbells_of(std::uint16_t node) {
  return kDoorbells + node * kDoorbellBytes;
}

}  // namespace lockstep::net
