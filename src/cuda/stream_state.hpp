// What the runtime knows of a stream and of an event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "trace/l2_policy.hpp"

namespace lockstep::cuda {

struct Graph;
struct GraphNode;

/// cudaLaunchAttributeValue.
using LaunchAttributeValue = std::array<std::byte, 64>;

/// Flags of cudaStreamCreateWithFlags and cudaEventCreateWithFlags, as in the runtime's headers.
inline constexpr unsigned kStreamNonBlocking = 1, kEventDisableTiming = 2, kEventInterprocess = 4;

struct StreamState {
  std::uint32_t number = 0;  // the legacy default stream of device d has number d
  unsigned device = 0;       // on which its work is done
  bool is_default = false;   // its device's legacy default stream
  unsigned flags = 0;
  int priority = 0;
  void* context = nullptr;                         // in which cuStreamCreate made it
  bool asked = false;                              // since something was put in: cudaStreamQuery
  Graph* capture = nullptr;                        // operations become nodes of it
  bool capture_origin = false;                     // it began the capture
  bool capture_makes_graph = false;                // the origin's: `capture` is not a graph of the program's
  std::map<int, LaunchAttributeValue> attributes;  // that were set, by their number
  trace::L2Launch window;                          // of launches that have none of their own
  std::vector<GraphNode*> capture_tail;            // what the next captured operation depends on

  /// Its work and that of the device's default stream wait for each other, or it is that stream.
  [[nodiscard]] bool blocks() const { return (flags & kStreamNonBlocking) == 0; }
};

struct EventState {
  unsigned device = 0;            // in whose streams it may be recorded
  const void* context = nullptr;  // in which it was made
  unsigned flags = 0;
  bool recorded = false;
  std::uint64_t held = 0;    // its latest record is held work of this number; 0: it is not
  bool asked = false;        // since it was recorded: cudaEventQuery
  std::uint64_t ticks = 0;   // Runtime's clock when it was recorded
  std::uint32_t record = 0;  // its number in the trace
  std::uint64_t timed = 0;   // its number among the records of events with a time
  Graph* capture = nullptr;
  std::vector<GraphNode*> capture_point;
};

}  // namespace lockstep::cuda
