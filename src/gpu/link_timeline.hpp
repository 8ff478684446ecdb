// The rows of a timeline that show a system's links.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gpu/timeline_writer.hpp"

namespace lockstep::gpu {

struct LinkTimeline {
  struct Slice {
    std::uint64_t from = 0, to = 0;  // ps
    std::uint64_t messages = 0, bytes = 0;
  };
  /// One direction of a link.
  struct Row {
    std::uint32_t node = 0;  // the sender
    std::string name;
    std::uint64_t bytes_per_second = 1;
    std::vector<Slice> slices;
  };
  std::vector<std::pair<std::uint32_t, std::string>> switches;  // number of the node, name
  std::vector<Row> rows;                                        // by edge, as the statistics have them
};

/// Rows of the sending nodes; those of links without traffic are left out.
void put_links(TimelineWriter& out, const LinkTimeline& links);

}  // namespace lockstep::gpu
