// What a simulated run has done, as a graph that no format is part of: computations with their times,
// messages, and what waits for what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::exporter {

struct Node {
  enum class Kind : std::uint8_t {
    kCompute,  // `time_ps` on `lane`
    kSend,     // `bytes` to `peer`
    kReceive,  // `bytes` from `peer`: complete when they have come
  } kind = Kind::kCompute;
  bool on_host = false;    // of kCompute: the host's, not the device's
  bool offered = false;    // of messages: by rendezvous
  std::uint16_t rank = 0;  // the device, or its process
  std::uint16_t peer = 0;
  std::uint32_t lane = 0;  // what it occupies: of a rank, nodes of one lane run one at a time; 0 is the host
  std::uint64_t time_ps = 0;
  std::uint64_t bytes = 0;
  std::uint32_t tag = 0;  // a message's number among those from one rank to the other
  std::uint32_t name = 0;
  std::vector<std::uint32_t> after;     // begins when these are complete
  std::vector<std::uint32_t> underway;  // and these have begun
};

/// A node comes after those that it waits for, which are of its own rank. Each kSend has exactly one kReceive
/// with its ranks, tag and bytes.
struct Graph {
  std::uint16_t ranks = 0;
  std::vector<Node> nodes;
  std::vector<std::string> names;    // of nodes
  std::vector<std::uint32_t> lanes;  // by rank: how many it has, at least 1
};

}  // namespace lockstep::exporter
