// A queue pair as the service thread that uses it sees it.
#pragma once

#include <cstdint>
#include <vector>

#include "net/queue_pair.hpp"
#include "net/served_queues.hpp"

namespace lockstep::net {

struct ServedPair {
  explicit ServedPair(QueuePair& of)
      : pair(&of), operation(of.entries()), taken(of.entries()), blocking(of.entries()) {}

  QueuePair* pair;
  std::uint64_t issued = 0, noticed = 0;  // commands, records
  std::uint32_t in_flight = 0;
  std::vector<OperationId> operation;  // by place
  std::vector<bool> taken, blocking;   // by place
};

}  // namespace lockstep::net
