// open_trace: from a path to a checked set of kernels.
#include <algorithm>

#include "trace/compact_blocks.hpp"
#include "trace/compact_feed.hpp"
#include "trace/kernel_trace.hpp"
#include "trace/text_trace_set.hpp"

namespace lockstep::trace {

std::unique_ptr<TraceSet> open_trace(const std::string& path, const OpenOptions& options) {
  if (is_compact(path)) return open_compact(path, options);
  return std::make_unique<TextTraceSet>(path, options);
}

KernelSize measure_kernel(const TraceSet& trace, std::uint32_t kernel) {
  constexpr std::uint64_t kCtasAtOnce = 64;
  KernelSize size;
  const auto feed = trace.open(kernel);
  const std::uint64_t ctas = feed->header().grid.count();
  for (std::uint64_t next = 0; next < ctas;) {
    const std::uint64_t end = std::min(ctas, next + kCtasAtOnce);
    feed->decode_now(end);
    for (; next < end; ++next) {
      CtaTrace* const cta = feed->take(next);
      for (const WarpSpan& warp : cta->warps) size.instructions += warp.record_count;
      size.address_words += cta->words.size();
      feed->release(cta);
    }
  }
  return size;
}

}  // namespace lockstep::trace
