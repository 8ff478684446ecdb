// Collective calls as messages: the algorithms that MPI libraries use, by name.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "messages/recording.hpp"

namespace lockstep::messages {

/// How all-reduces are done.
enum class AllReduce : std::uint8_t {
  kAuto,               // recursive doubling up to kMaxDoubledBytes bytes, above by a ring
  kRecursiveDoubling,  // processes beyond a power of two hand their data to a neighbour, and get the result
  kRing,               // reduce-scatter, then all-gather
};
/// MPICH's default (MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE).
inline constexpr std::uint64_t kMaxDoubledBytes = 2048;

/// What one process does in a collective call, in its order.
class CollectiveSteps {
 public:
  virtual ~CollectiveSteps() = default;
  /// Begins to send to a member. `step` tells messages between the same two apart.
  virtual void send(std::uint32_t to, std::uint32_t step, std::uint64_t bytes) = 0;
  /// From here on the message may come.
  virtual void accept(std::uint32_t from, std::uint32_t step) = 0;
  /// Waits for all that was sent and accepted in this call so far.
  virtual void wait() = 0;
  /// Combines as many bytes of two operands.
  virtual void combine(std::uint64_t bytes) = 0;
};

/// Barrier: dissemination. Broadcast and reduce: binomial tree. All-gather: ring. All-to-all: pairwise
/// exchange. Gather and scatter: the root with each member in turn. Reduce-scatter: the first half of the
/// ring's all-reduce. Scans: recursive doubling, as in MPICH (MPIR_Scan_intra_recursive_doubling).
/// Neighbours: all at once. `me`: rank among `members` processes.
void perform(const Call& call, std::uint32_t me, std::uint32_t members, AllReduce all_reduce,
             CollectiveSteps& steps);

}  // namespace lockstep::messages
