#include "trace/compact_feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>

#include "trace/compact_blocks.hpp"
#include "trace/compact_chunk.hpp"
#include "trace/compact_directory.hpp"
#include "trace/text_scan.hpp"
#include "trace/traced_instruction.hpp"
#include "util/error.hpp"

namespace lockstep::trace {

/// An opened file, shared by the set and the feeds that it opened.
struct OpenFile {
  explicit OpenFile(const std::string& path) : blocks(path) {}
  OpenFile(const std::string& path, int descriptor) : blocks(path, descriptor) {}
  /// Runs `work` on the block at `offset`; what is broken in it becomes an InputError that says where.
  template <typename Work>
  void with_place(std::uint64_t offset, const Work& work) const {
    try {
      work();
    } catch (const BrokenBlock& error) {
      blocks.fail(offset, error.what());
    }
  }
  BlockReader blocks;
};

namespace {

/// Decoded and waiting beyond what is wanted: enough chunks for a team, few enough to stay in its caches.
constexpr std::uint64_t kAheadBytes = 8 << 20;

struct CompactCta : CtaTrace {
  CompactCta* next = nullptr;  // free list
};

/// Memory of one decode task, reused by the next.
struct DecodeScratch {
  BlockScratch block;
  ChunkDecoder decoder;
  std::vector<CtaTrace*> ctas;
};

class CompactFeed final : public CtaFeed {
 public:
  CompactFeed(std::shared_ptr<const OpenFile> file, std::shared_ptr<const KernelEntry> kernel, bool strict)
      : file_(std::move(file)), entry_(std::move(kernel)), kernel_(*entry_), ring_(64) {
    notes_.remarks = kernel_.remarks;
    file_->with_place(kernel_.table, [&] { read_table(strict); });
    first_cta_.reserve(kernel_.chunks.size() + 1);
    first_cta_.push_back(0);
    for (const ChunkEntry& chunk : kernel_.chunks) first_cta_.push_back(first_cta_.back() + chunk.ctas);
  }

  [[nodiscard]] const KernelHeader& header() const override { return kernel_.header; }
  [[nodiscard]] const StaticTable& instructions() const override { return table_; }
  [[nodiscard]] TracedInstruction traced(std::uint32_t i) const override { return traced_[i]; }
  [[nodiscard]] const TraceNotes& notes() const override { return notes_; }

  void want(std::uint64_t end) override { wanted_ = std::max(wanted_, std::min(end, first_cta_.back())); }
  [[nodiscard]] std::size_t plan() override;
  void run(std::size_t task) noexcept override;
  void settle() override;
  void skip(std::uint64_t begin, std::uint64_t end) override;
  [[nodiscard]] CtaTrace* take(std::uint64_t index) override {
    assert(index < first_cta_[published_] && at(index) != nullptr);
    return std::exchange(at(index), nullptr);
  }
  void release(CtaTrace* cta) noexcept override {
    auto* const mine = static_cast<CompactCta*>(cta);
    mine->next = released_.load(std::memory_order_relaxed);
    while (!released_.compare_exchange_weak(mine->next, mine, std::memory_order_release,
                                            std::memory_order_relaxed)) {
    }
  }

 private:
  CompactCta*& at(std::uint64_t index) { return ring_[index & (ring_.size() - 1)]; }
  void read_table(bool strict);
  [[nodiscard]] std::uint64_t read_ahead() const;
  void collect_released();
  CompactCta* new_cta();
  void reserve_ring(std::uint64_t end);
  void drop(std::uint64_t begin, std::uint64_t end);
  void decode(std::size_t chunk, DecodeScratch& scratch);
  void count_unknown(const CtaTrace& cta);
  void take_notes();

  std::shared_ptr<const OpenFile> file_;
  std::shared_ptr<const KernelEntry> entry_;
  const KernelEntry& kernel_;
  StaticTable table_;
  TracedTable traced_;
  std::vector<std::uint64_t> first_cta_;  // of each chunk, and the end
  std::vector<bool> unknown_;             // by static instruction; empty when all are known

  // CTAs [0, wanted_) are due at the next settle(). Chunks [0, published_) are there, those up to planned_
  // with tasks.
  std::uint64_t wanted_ = 0, noted_ = 0, oldest_ = 0;
  std::uint64_t skipped_ = 0;  // CTAs before it that are not decoded yet will not be taken
  std::size_t planned_ = 0, published_ = 0, first_task_ = 0;
  std::map<std::size_t, std::exception_ptr> errors_;  // by chunk; guarded by mutex_
  std::vector<CompactCta*> ring_;                     // by CTA index; null once taken
  std::vector<std::unique_ptr<CompactCta>> pool_;
  CompactCta* free_ = nullptr;
  std::atomic<CompactCta*> released_{nullptr};
  std::uint64_t decoded_bytes_ = 0, decoded_ctas_ = 0;
  std::mutex mutex_;
  std::vector<std::unique_ptr<DecodeScratch>> scratch_;  // guarded by mutex_

  TraceNotes notes_;
  std::map<std::string, std::uint64_t> unknown_counts_;
  bool remarked_ = false;
};

void CompactFeed::read_table(bool strict) {
  BlockScratch scratch;
  traced_ = decode_table(file_->blocks.read(kernel_.table, BlockKind::kTable, scratch));
  for (std::uint32_t i = 0; i < traced_.entries.size(); ++i) {
    try {
      table_.push(decode_traced(traced_[i], kernel_.header.binary_version));
    } catch (const std::invalid_argument& error) {
      throw BrokenBlock(fmt::format("instruction {}: {}", i, error.what()));
    }
    if (table_[i].known) continue;
    if (strict) {
      throw InputError(file_->blocks.path(), 0,
                       fmt::format("kernel {}: opcode {} is not known (--strict)", shown(kernel_.header.name),
                                   shown(opcode_of(traced_[i].text))));
    }
    unknown_.resize(traced_.entries.size());
    unknown_[i] = true;
  }
}

std::uint64_t CompactFeed::read_ahead() const {
  if (decoded_ctas_ == 0) return 0;
  const std::uint64_t each = decoded_bytes_ / decoded_ctas_ + 1;
  return std::max<std::uint64_t>(kAheadBytes / each, 1);
}

void CompactFeed::collect_released() {
  CompactCta* list = released_.exchange(nullptr, std::memory_order_acquire);
  while (list != nullptr) {
    CompactCta* const rest = list->next;
    list->next = free_;
    free_ = list;
    list = rest;
  }
}

CompactCta* CompactFeed::new_cta() {
  if (free_ == nullptr) {
    pool_.push_back(std::make_unique<CompactCta>());
    return pool_.back().get();
  }
  return std::exchange(free_, free_->next);
}

void CompactFeed::reserve_ring(std::uint64_t end) {
  while (oldest_ < first_cta_[published_] && at(oldest_) == nullptr) ++oldest_;
  if (end - oldest_ <= ring_.size()) return;
  std::size_t size = ring_.size();
  while (size < end - oldest_) size *= 2;
  std::vector<CompactCta*> grown(size);
  for (std::uint64_t i = oldest_; i < first_cta_[planned_]; ++i) grown[i & (size - 1)] = at(i);
  ring_ = std::move(grown);
}

std::size_t CompactFeed::plan() {
  collect_released();
  const std::uint64_t ahead = read_ahead(), planned = first_cta_[planned_];
  // Refilled by halves: tasks in batches keep a whole team busy.
  if (planned >= wanted_ && (planned == first_cta_.back() || planned - wanted_ > ahead / 2)) return 0;
  first_task_ = planned_;
  std::size_t end = planned_;
  while (first_cta_[end] < wanted_) ++end;
  while (end < kernel_.chunks.size() && first_cta_[end] < wanted_ + ahead) ++end;
  if (end == planned_) return 0;
  reserve_ring(first_cta_[end]);
  for (std::uint64_t i = planned; i < first_cta_[end]; ++i) at(i) = new_cta();
  planned_ = end;
  return planned_ - first_task_;
}

void CompactFeed::run(std::size_t task) noexcept {
  const std::size_t chunk = first_task_ + task;
  std::unique_ptr<DecodeScratch> scratch;
  std::exception_ptr error;
  try {
    {
      const std::lock_guard lock(mutex_);
      if (!scratch_.empty()) {
        scratch = std::move(scratch_.back());
        scratch_.pop_back();
      }
    }
    if (scratch == nullptr) scratch = std::make_unique<DecodeScratch>();
    file_->with_place(kernel_.chunks[chunk].offset, [&] { decode(chunk, *scratch); });
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  if (error != nullptr) errors_[chunk] = error;
  if (scratch != nullptr) scratch_.push_back(std::move(scratch));
}

void CompactFeed::decode(std::size_t chunk, DecodeScratch& scratch) {
  scratch.ctas.clear();
  for (std::uint64_t i = first_cta_[chunk]; i < first_cta_[chunk + 1]; ++i) scratch.ctas.push_back(at(i));
  const auto bytes = file_->blocks.read(kernel_.chunks[chunk].offset, BlockKind::kChunk, scratch.block);
  scratch.decoder.decode({kernel_.header, first_cta_[chunk]}, table_, bytes, scratch.ctas);
}

void CompactFeed::settle() {
  collect_released();
  for (; published_ < planned_; ++published_) {
    if (const auto error = errors_.find(published_); error != errors_.end()) {
      if (first_cta_[published_] < wanted_) std::rethrow_exception(error->second);
      break;
    }
    for (std::uint64_t i = first_cta_[published_]; i < first_cta_[published_ + 1]; ++i) {
      if (at(i) == nullptr) continue;
      const CompactCta& cta = *at(i);
      decoded_bytes_ += sizeof cta + cta.warps.size() * sizeof(WarpSpan) +
                        cta.records.size() * sizeof(Record) + cta.words.size() * sizeof(std::uint64_t);
      ++decoded_ctas_;
    }
    drop(first_cta_[published_], std::min(first_cta_[published_ + 1], skipped_));
  }
  take_notes();
}

/// CTAs [begin, end) that are there will not be taken.
void CompactFeed::drop(std::uint64_t begin, std::uint64_t end) {
  for (; begin < end; ++begin)
    if (CompactCta* const cta = std::exchange(at(begin), nullptr); cta != nullptr) release(cta);
}

/// Nothing is read of chunks within the range, and of those that reach into it only the rest.
void CompactFeed::skip(std::uint64_t begin, std::uint64_t end) {
  decode_now(begin);
  drop(begin, std::min(end, first_cta_[planned_]));
  std::size_t next = published_;
  while (next < kernel_.chunks.size() && first_cta_[next + 1] <= end) ++next;
  reserve_ring(first_cta_[std::max(next, planned_)]);
  errors_.erase(errors_.begin(), errors_.lower_bound(next));
  published_ = next;
  planned_ = std::max(next, planned_);
  skipped_ = noted_ = end;
}

void CompactFeed::count_unknown(const CtaTrace& cta) {
  for (const WarpSpan& warp : cta.warps) {
    for (std::uint32_t i = 0; i < warp.record_count; ++i) {
      const std::uint32_t inst = cta.records[warp.first_record + i].inst();
      if (unknown_[inst]) ++unknown_counts_[table_[inst].mnemonic.data()];
    }
  }
}

void CompactFeed::take_notes() {
  if (!remarked_) {
    remarked_ = true;
    std::set<std::string> remarks(notes_.remarks.begin(), notes_.remarks.end());
    for (std::uint32_t i = 0; i < table_.size(); ++i)
      if (const char* remark = remark_for(table_[i]); remark != nullptr) remarks.insert(remark);
    notes_.remarks.assign(remarks.begin(), remarks.end());
  }
  if (unknown_.empty()) return;
  // Counts only what is due, so that the notes do not depend on how far was read ahead.
  for (const std::uint64_t end = std::min(wanted_, first_cta_[published_]); noted_ < end; ++noted_) {
    if (at(noted_) == nullptr) continue;
    count_unknown(*at(noted_));
  }
  notes_.unknown_opcodes.assign(unknown_counts_.begin(), unknown_counts_.end());
}

class CompactTraceSet final : public SizedTraceSet {
 public:
  CompactTraceSet(const std::string& path, const OpenOptions& options)
      : file_(std::make_shared<const OpenFile>(path)), strict_(options.strict) {
    BlockScratch scratch;
    const BlockReader& blocks = file_->blocks;
    file_->with_place(blocks.directory(), [&] {
      directory_ = std::make_shared<const CompactDirectory>(decode_directory(
          blocks.read(blocks.directory(), BlockKind::kDirectory, scratch), blocks.version()));
    });
    for (const KernelEntry& kernel : directory_->kernels) kernels_.push_back(kernel.header);
    if (blocks.version() != version_of(*directory_))
      blocks.fail(8, fmt::format("format version {}; expected {} for what the directory says",
                                 blocks.version(), version_of(*directory_)));
  }
  [[nodiscard]] const std::string& name() const override { return directory_->name; }
  [[nodiscard]] std::uint64_t content_hash() const override { return directory_->hash; }
  [[nodiscard]] const std::vector<Command>& commands() const override { return directory_->commands; }
  [[nodiscard]] const std::vector<KernelHeader>& kernels() const override { return kernels_; }
  [[nodiscard]] std::unique_ptr<CtaFeed> open(std::uint32_t index) const override {
    const KernelEntry& kernel = directory_->kernels.at(index);
    return std::make_unique<CompactFeed>(file_, std::shared_ptr<const KernelEntry>(directory_, &kernel),
                                         strict_);
  }
  [[nodiscard]] std::optional<KernelSize> size(std::uint32_t index) const override {
    return directory_->kernels.at(index).size;
  }

 private:
  std::shared_ptr<const OpenFile> file_;
  std::shared_ptr<const CompactDirectory> directory_;
  std::vector<KernelHeader> kernels_;
  bool strict_;
};

}  // namespace

struct GrowingTrace::File {
  std::shared_ptr<const OpenFile> open;
  std::deque<KernelEntry> kernels;  // their places are kept
};

GrowingTrace::GrowingTrace(bool strict) : file_(std::make_shared<File>()), strict_(strict) {}
GrowingTrace::~GrowingTrace() = default;

void GrowingTrace::open_file(const std::string& path, int descriptor) {
  file_->open = std::make_shared<const OpenFile>(path, descriptor);
}

void GrowingTrace::add(KernelEntry kernel) {
  if (!file_->open) throw BrokenBlock("a kernel comes before its file");
  headers_.push_back(kernel.header);
  file_->kernels.push_back(std::move(kernel));
}

void GrowingTrace::finish(std::string name, std::uint64_t hash) {
  name_ = std::move(name);
  hash_ = hash;
}

const KernelEntry& GrowingTrace::entry(std::uint32_t index) const { return file_->kernels.at(index); }

std::unique_ptr<CtaFeed> GrowingTrace::open(std::uint32_t index) const {
  return std::make_unique<CompactFeed>(file_->open, std::shared_ptr<const KernelEntry>(file_, &entry(index)),
                                       strict_);
}

std::unique_ptr<TraceSet> open_compact(const std::string& path, const OpenOptions& options) {
  return std::make_unique<CompactTraceSet>(path, options);
}

}  // namespace lockstep::trace
