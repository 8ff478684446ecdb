#include "trace/text_feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "trace/cta_decoder.hpp"
#include "trace/moved_addresses.hpp"
#include "trace/shared_offsets.hpp"
#include "trace/spill.hpp"
#include "trace/traced_instruction.hpp"
#include "util/error.hpp"

namespace lockstep::trace {
namespace {

/// Start of the `n`-th function's code (the kernel is 0): 16 MiB apart, more than any kernel's code, plus an
/// odd number of lines so that entry points do not share one cache set.
std::uint32_t function_base(std::uint32_t n) {
  return n == 0 ? 0 : (1 + (n - 1) % 240) << 24 | (n * 0x1280 & 0xfff80);
}

/// Memory of one decode task, reused by the next.
struct TextScratch {
  TextPiece piece;
  DecodeHints hints;
  std::vector<std::uint64_t> words;
  OffsetSharing sharing;
};

class TextFeed final : public CtaFeed {
 public:
  TextFeed(KernelFile kernel, std::unique_ptr<CtaSource> source, std::string file, const FeedOptions& options)
      : kernel_(std::move(kernel)),
        source_(std::move(source)),
        file_(std::move(file)),
        options_(options),
        total_(kernel_.header.grid.count()),
        context_{kernel_.header, kernel_.layout, interned_, file_, options.strict},
        ring_(64),
        remarks_(kernel_.remarks.begin(), kernel_.remarks.end()) {
    notes_.remarks.assign(remarks_.begin(), remarks_.end());
  }

  [[nodiscard]] const KernelHeader& header() const override { return kernel_.header; }
  [[nodiscard]] const StaticTable& instructions() const override { return table_; }
  [[nodiscard]] TracedInstruction traced(std::uint32_t i) const override {
    const InstructionKey key = interned_.key(i);
    return {table_[i].pc, key.text, key.immediate, {}, interned_[i].source_line};
  }
  [[nodiscard]] const TraceNotes& notes() const override { return notes_; }

  void want(std::uint64_t end) override { wanted_ = std::max(wanted_, std::min(end, total_)); }
  [[nodiscard]] std::size_t plan() override;
  void run(std::size_t task) noexcept override;
  void settle() override;
  [[nodiscard]] CtaTrace* take(std::uint64_t index) override {
    assert(index < published_ && at(index) != nullptr);
    DecodedCta* const cta = std::exchange(at(index), nullptr);
    if (options_.region != 0) move_addresses(*cta, table_, kernel_.header, options_.region);
    return cta;
  }
  void release(CtaTrace* cta) noexcept override {
    auto* decoded = static_cast<DecodedCta*>(cta);
    decoded->next = released_.load(std::memory_order_relaxed);
    while (!released_.compare_exchange_weak(decoded->next, decoded, std::memory_order_release,
                                            std::memory_order_relaxed)) {
    }
  }

 private:
  DecodedCta*& at(std::uint64_t index) { return ring_[index & (ring_.size() - 1)]; }
  [[nodiscard]] std::uint64_t read_ahead() const;
  void collect_released();
  DecodedCta* new_cta();
  void reserve_ring(std::uint64_t end);
  void read_and_decode(DecodedCta& cta, TextScratch& scratch, std::unique_lock<std::mutex>& reading);
  void publish(DecodedCta& cta);
  void remap(DecodedCta& cta);
  std::uint32_t publish_instruction(const DecodedCta& cta, std::uint32_t i);
  void take_notes();

  KernelFile kernel_;
  std::unique_ptr<CtaSource> source_;
  std::string file_;
  FeedOptions options_;
  std::uint64_t total_;
  StaticTable table_;
  InternTable interned_;  // same indices as table_
  DecodeContext context_;
  std::unordered_map<std::uint64_t, std::uint32_t> functions_;  // key -> number, in CTA order

  // CTAs [published_, planned_) are with tasks; [0, wanted_) are due at the next settle().
  std::uint64_t wanted_ = 0, planned_ = 0, published_ = 0, noted_ = 0, oldest_ = 0;
  std::vector<DecodedCta*> ring_;  // by CTA index; null once taken
  std::vector<std::unique_ptr<DecodedCta>> pool_;
  DecodedCta* free_ = nullptr;
  std::atomic<DecodedCta*> released_{nullptr};
  std::uint64_t decoded_bytes_ = 0;
  std::vector<std::uint32_t> remap_;

  // Reading is sequential: whichever task comes next cuts the next CTA out of the file, then decodes it while
  // others read on. Guarded by reading_.
  std::mutex reading_;
  std::uint64_t next_read_ = 0;
  bool read_failed_ = false;
  std::vector<std::unique_ptr<TextScratch>> scratch_;

  TraceNotes notes_;
  std::map<std::string, std::uint64_t> unknown_;
  std::set<std::string> remarks_;
};

std::uint64_t TextFeed::read_ahead() const {
  if (published_ == 0) return std::min<std::uint64_t>(options_.ahead_ctas, 1);
  const std::uint64_t each = decoded_bytes_ / published_ + 1;
  return std::clamp<std::uint64_t>(options_.ahead_bytes / each, 1,
                                   std::max<std::uint64_t>(options_.ahead_ctas, 1));
}

void TextFeed::collect_released() {
  DecodedCta* list = released_.exchange(nullptr, std::memory_order_acquire);
  while (list != nullptr) {
    DecodedCta* const rest = list->next;
    list->next = free_;
    free_ = list;
    list = rest;
  }
}

DecodedCta* TextFeed::new_cta() {
  if (free_ == nullptr) {
    pool_.push_back(std::make_unique<DecodedCta>());
    return pool_.back().get();
  }
  return std::exchange(free_, free_->next);
}

void TextFeed::reserve_ring(std::uint64_t end) {
  while (oldest_ < published_ && at(oldest_) == nullptr) ++oldest_;
  if (end - oldest_ <= ring_.size()) return;
  std::size_t size = ring_.size();
  while (size < end - oldest_) size *= 2;
  std::vector<DecodedCta*> grown(size);
  for (std::uint64_t i = oldest_; i < planned_; ++i) grown[i & (size - 1)] = at(i);
  ring_ = std::move(grown);
}

std::size_t TextFeed::plan() {
  collect_released();
  const std::uint64_t ahead = options_.ahead_ctas == 0 ? 0 : read_ahead();
  // Refilled by halves: tasks in batches keep a whole team busy.
  if (planned_ >= wanted_ && (planned_ == total_ || planned_ - wanted_ > ahead / 2)) return 0;
  const std::uint64_t end = std::min(total_, wanted_ + ahead);
  reserve_ring(end);
  std::size_t tasks = 0;
  for (; planned_ < end; ++planned_) {
    DecodedCta* const cta = new_cta();
    cta->reset(planned_, kernel_.header.warps_per_cta(), table_.size());
    at(planned_) = cta;
    if (planned_ == 0 && end > 1) {
      // With the first CTA's instructions published, most others find theirs in the table.
      run(0);
      if (cta->error == nullptr) publish(*cta);
    } else {
      ++tasks;
    }
  }
  return tasks;
}

void TextFeed::run(std::size_t) noexcept {
  std::unique_lock reading(reading_);
  DecodedCta& cta = *at(next_read_++);
  if (read_failed_) return;
  std::unique_ptr<TextScratch> scratch;
  try {
    if (scratch_.empty()) scratch_.push_back(std::make_unique<TextScratch>());
    scratch = std::move(scratch_.back());
    scratch_.pop_back();
    read_and_decode(cta, *scratch, reading);
  } catch (const std::length_error& error) {
    cta.error = std::make_exception_ptr(InputError(file_, 0, error.what()));
  } catch (...) {
    cta.error = std::current_exception();
  }
  if (!reading.owns_lock()) reading.lock();
  if (cta.error != nullptr) read_failed_ = true;
  if (scratch != nullptr) scratch_.push_back(std::move(scratch));
}

void TextFeed::read_and_decode(DecodedCta& cta, TextScratch& scratch, std::unique_lock<std::mutex>& reading) {
  cta.words.swap(scratch.words);
  cta.words.clear();
  CtaDecoder decoder(context_, scratch.hints, cta);
  TextPiece& piece = scratch.piece;
  source_->next(piece);
  if (piece.end_of_file) {
    const Dim3& grid = kernel_.header.grid;
    throw InputError(file_, piece.first_line,
                     fmt::format("the file ends after {} thread blocks; expected the {} of grid ({},{},{})",
                                 cta.index, total_, grid.x, grid.y, grid.z));
  }
  while (!piece.last) {
    decoder.piece(piece);
    source_->next(piece);
  }
  if (cta.index + 1 == total_) source_->expect_end(total_);
  reading.unlock();
  decoder.piece(piece);
  decoder.finish();
  cta.words.swap(scratch.words);
  scratch.sharing.share(scratch.words, cta);
}

void TextFeed::settle() {
  collect_released();
  while (published_ < planned_) {
    DecodedCta& cta = *at(published_);
    if (cta.error != nullptr) {
      if (published_ < wanted_) std::rethrow_exception(cta.error);
      break;
    }
    publish(cta);
  }
  take_notes();
}

void TextFeed::publish(DecodedCta& cta) {
  if (cta.fresh.size() > 0) remap(cta);
  decoded_bytes_ += cta.records.size() * sizeof(Record) + cta.words.size() * sizeof(std::uint64_t);
  ++published_;
}

void TextFeed::remap(DecodedCta& cta) {
  remap_.clear();
  bool moved = false;
  try {
    for (std::uint32_t i = 0; i < cta.fresh.size(); ++i) {
      remap_.push_back(publish_instruction(cta, i));
      moved |= remap_.back() != cta.known + i;
    }
  } catch (const std::length_error& error) {
    throw InputError(file_, 0, error.what());
  }
  if (!moved) return;
  for (Record& record : cta.records) {
    const std::uint32_t inst = record.inst();
    if (inst >= cta.known) record = Record::make(remap_[inst - cta.known], record.form(), record.mask);
  }
  std::map<std::uint32_t, std::uint64_t> unknown;
  for (const auto& [inst, count] : cta.unknown)
    unknown[inst < cta.known ? inst : remap_[inst - cta.known]] += count;
  cta.unknown.swap(unknown);
}

std::uint32_t TextFeed::publish_instruction(const DecodedCta& cta, std::uint32_t i) {
  const InstructionKey key = cta.fresh.key(i);
  if (const std::uint32_t known = interned_.find(key); known != InternTable::kNone) return known;
  StaticInst inst = cta.fresh_insts[i];
  if (key.function != 0) {
    const auto number = static_cast<std::uint32_t>(functions_.size() + 1);
    inst.pc += function_base(functions_.try_emplace(key.function, number).first->second);
  }
  if (const char* remark = remark_for(inst); remark != nullptr && remarks_.insert(remark).second) {
    notes_.remarks.assign(remarks_.begin(), remarks_.end());
  }
  table_.push(inst);
  return interned_.add(key, cta.fresh[i]);
}

/// Counts only what is due, so that the notes do not depend on how far was read ahead.
void TextFeed::take_notes() {
  bool changed = false;
  for (const std::uint64_t end = std::min(wanted_, published_); noted_ < end; ++noted_) {
    if (at(noted_) == nullptr) continue;
    for (const auto& [inst, count] : at(noted_)->unknown) {
      unknown_[table_[inst].mnemonic.data()] += count;
      changed = true;
    }
  }
  if (changed) notes_.unknown_opcodes.assign(unknown_.begin(), unknown_.end());
}

}  // namespace

std::unique_ptr<CtaFeed> make_text_feed(KernelFile kernel, std::unique_ptr<CtaSource> source,
                                        std::string file, const FeedOptions& options) {
  return std::make_unique<TextFeed>(std::move(kernel), std::move(source), std::move(file), options);
}

std::unique_ptr<CtaFeed> open_kernel_text(std::unique_ptr<ByteSource> bytes, std::string file,
                                          const FeedOptions& options, std::vector<std::string> remarks) {
  TextStream stream(std::move(bytes), file);
  KernelFile kernel = read_header(stream);
  kernel.remarks.insert(kernel.remarks.end(), remarks.begin(), remarks.end());
  std::unique_ptr<CtaSource> source;
  if (kernel.layout.processed) {
    source = std::make_unique<FileCtaSource>(std::move(stream));
  } else {
    source = spill_interleaved(std::move(stream), kernel);
    kernel.layout.leading_ids = 0;
  }
  return make_text_feed(std::move(kernel), std::move(source), std::move(file), options);
}

}  // namespace lockstep::trace
