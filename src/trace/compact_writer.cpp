#include <algorithm>

#include "trace/compact_feed.hpp"
#include "trace/compact_file.hpp"

namespace lockstep::trace {
namespace {

class Converter {
 public:
  Converter(const TraceSet& trace, const std::string& path, const ConvertOptions& options)
      : trace_(trace), options_(options), file_(path, options.level) {
    progress_.kernels = static_cast<std::uint32_t>(trace.kernels().size());
    for (const KernelHeader& kernel : trace.kernels()) progress_.total_ctas += kernel.grid.count();
  }

  ConvertProgress convert() {
    for (progress_.kernel = 0; progress_.kernel < progress_.kernels; ++progress_.kernel) kernel();
    file_.finish(trace_.name(), trace_.content_hash(), trace_.commands());
    note();
    return progress_;
  }

 private:
  void decode(CtaFeed& feed, std::uint64_t end) const {
    feed.want(end);
    const auto tasks = static_cast<std::int64_t>(feed.plan());
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(options_.threads))
#endif
    for (std::int64_t i = 0; i < tasks; ++i) feed.run(static_cast<std::size_t>(i));
    feed.settle();
  }

  void kernel() {
    constexpr std::uint64_t kCtasAtOnce = 16;
    const auto feed = trace_.open(progress_.kernel);
    file_.begin(feed->header());
    std::vector<std::string> remarks = feed->notes().remarks;
    const std::uint64_t total = feed->header().grid.count();
    for (std::uint64_t next = 0; next < total;) {
      const std::uint64_t end = std::min(total, next + kCtasAtOnce);
      decode(*feed, end);
      for (; next < end; ++next) {
        CtaTrace* const cta = feed->take(next);
        file_.add(*cta);
        feed->release(cta);
        ++progress_.ctas;
      }
      note();
      if (options_.progress) options_.progress(progress_);
    }
    file_.end(
        feed->instructions().size(), [&](std::uint32_t i) { return feed->traced(i); }, std::move(remarks));
  }

  void note() {
    progress_.bytes = file_.bytes();
    progress_.warp_instructions = file_.warp_instructions();
  }

  const TraceSet& trace_;
  ConvertOptions options_;
  CompactFile file_;
  ConvertProgress progress_;
};

}  // namespace

ConvertProgress write_compact(const TraceSet& trace, const std::string& path, const ConvertOptions& options) {
  Converter converter(trace, path, options);
  return converter.convert();
}

}  // namespace lockstep::trace
