// What happened when, as a file that Perfetto and chrome://tracing open.
#pragma once

#include <string>
#include <vector>

#include "gpu/link_timeline.hpp"
#include "gpu/network_timeline.hpp"
#include "stats/report.hpp"
#include "util/types.hpp"
#include "uvm/event.hpp"

namespace lockstep::gpu {

/// An event of managed memory with its place.
struct TimelineEvent {
  uvm::Event::Kind kind = uvm::Event::Kind::kTransfer;
  Cycle start = 0, end = 0;  // core cycles
  Address address = 0;       // first byte
  std::uint64_t bytes = 0;   // kBatch: entries
  std::uint16_t device = 0;
};

/// Trace Event Format (Google, "Trace Event Format", JSON object form): kernels by stream, copies, and where
/// there is managed memory faults, batches and both directions of the host link; where there is a network its
/// operations, agents and NICs, and what each link carried. Times in microseconds from
/// the start of the run, exact to a picosecond (rounded down). The same bytes for every host, thread count
/// and window.
[[nodiscard]] std::string timeline_json(const stats::RunReport& report,
                                        const std::vector<TimelineEvent>& events,
                                        const NetworkTimeline& network, const LinkTimeline& links);

}  // namespace lockstep::gpu
