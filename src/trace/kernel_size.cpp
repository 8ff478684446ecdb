#include "trace/kernel_size.hpp"

#include <algorithm>

namespace lockstep::trace {

KernelSize size_of(const TraceSet& trace, std::uint32_t kernel) {
  const auto* const sized = dynamic_cast<const SizedTraceSet*>(&trace);
  const auto said = sized ? sized->size(kernel) : std::nullopt;
  return said ? *said : measure_kernel(trace, kernel);
}

KernelSize measure_kernel(const TraceSet& trace, std::uint32_t kernel) {
  KernelSize size;
  const auto feed = trace.open(kernel);
  const std::uint64_t ctas = feed->header().grid.count();
  for (std::uint64_t next = 0; next < ctas;) {
    const std::uint64_t end = std::min(ctas, next + CtaFeed::kAtOnce);
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
