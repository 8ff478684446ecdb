// The graph of a simulated recording.
#pragma once

#include "export/graph.hpp"
#include "export/results.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::exporter {

/// Takes all times of `results`. Throws UserError where the trace has what no message or computation stands
/// for: kernels that use the network themselves, managed memory.
[[nodiscard]] Graph make_graph(const trace::TraceSet& trace, Results& results);

}  // namespace lockstep::exporter
