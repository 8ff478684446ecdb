// open_trace: from a path to a checked set of kernels.
#include "trace/compact_blocks.hpp"
#include "trace/compact_feed.hpp"
#include "trace/kernel_trace.hpp"
#include "trace/text_trace_set.hpp"

namespace lockstep::trace {

std::unique_ptr<TraceSet> open_trace(const std::string& path, const OpenOptions& options) {
  if (is_compact(path)) return open_compact(path, options);
  return std::make_unique<TextTraceSet>(path, options);
}

}  // namespace lockstep::trace
