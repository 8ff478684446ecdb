#include <algorithm>

#include "trace/compact_blocks.hpp"
#include "trace/compact_chunk.hpp"
#include "trace/compact_directory.hpp"
#include "trace/compact_feed.hpp"

namespace lockstep::trace {
namespace {

constexpr std::uint64_t kCtasAtOnce = 16;

class Converter {
 public:
  Converter(const TraceSet& trace, const std::string& path, const ConvertOptions& options)
      : trace_(trace), options_(options), file_(path, options.level) {
    progress_.kernels = static_cast<std::uint32_t>(trace.kernels().size());
    for (const KernelHeader& kernel : trace.kernels()) progress_.total_ctas += kernel.grid.count();
  }

  ConvertProgress convert() {
    CompactDirectory directory;
    directory.name = trace_.name();
    directory.hash = trace_.content_hash();
    directory.commands = trace_.commands();
    for (std::uint32_t i = 0; i < progress_.kernels; ++i) {
      progress_.kernel = i;
      directory.kernels.push_back(kernel(i));
    }
    encode_directory(directory, raw_);
    file_.finish(file_.write(BlockKind::kDirectory, raw_));
    progress_.bytes = file_.size();
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

  KernelEntry kernel(std::uint32_t number) {
    const auto feed = trace_.open(number);
    KernelEntry entry;
    entry.header = feed->header();
    entry.remarks = feed->notes().remarks;
    const std::uint64_t total = entry.header.grid.count();
    for (std::uint64_t next = 0; next < total;) {
      const std::uint64_t end = std::min(total, next + kCtasAtOnce);
      decode(*feed, end);
      for (; next < end; ++next) {
        CtaTrace* const cta = feed->take(next);
        add(*cta, entry);
        feed->release(cta);
        ++progress_.ctas;
      }
      progress_.bytes = file_.size();
      if (options_.progress) options_.progress(progress_);
    }
    close_chunk(entry);
    encode_table(*feed, raw_);
    entry.table = file_.write(BlockKind::kTable, raw_);
    return entry;
  }

  void add(const CtaTrace& cta, KernelEntry& entry) {
    if (pending_ == ctas_.size()) ctas_.emplace_back();
    ctas_[pending_++] = cta;
    const std::size_t records = record_count(cta);
    pending_bytes_ += counted_bytes(cta.warps.size(), records, cta.words.size());
    progress_.warp_instructions += records;
    if (pending_bytes_ >= kChunkBytes) close_chunk(entry);
  }

  void close_chunk(KernelEntry& entry) {
    if (pending_ == 0) return;
    encoder_.encode({entry.header, ctas_.front().index}, {ctas_.data(), pending_}, raw_);
    entry.chunks.push_back({file_.write(BlockKind::kChunk, raw_), pending_});
    pending_ = 0;
    pending_bytes_ = 0;
  }

  const TraceSet& trace_;
  ConvertOptions options_;
  BlockWriter file_;
  ConvertProgress progress_;
  ChunkEncoder encoder_;
  std::vector<CtaTrace> ctas_;  // the first pending_ are the open chunk; the others keep their memory
  std::size_t pending_ = 0, pending_bytes_ = 0;
  Bytes raw_;
};

}  // namespace

ConvertProgress write_compact(const TraceSet& trace, const std::string& path, const ConvertOptions& options) {
  return Converter(trace, path, options).convert();
}

}  // namespace lockstep::trace
