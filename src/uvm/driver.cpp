#include "uvm/driver.hpp"

#include <algorithm>

namespace lockstep::uvm {

Driver::Driver(DeviceMemory& memory)
    : memory_(&memory),
      interrupt_(memory.cycles_of_ns(memory.parameters().interrupt_ns)),
      batch_(memory.cycles_of_ns(memory.parameters().batch_ns)),
      block_(memory.cycles_of_ns(memory.parameters().block_ns)),
      evict_(memory.cycles_of_ns(memory.parameters().evict_ns)) {}

void Driver::fault(const Access& access, Cycle now) {
  Counters& c = memory_->counters();
  stalled_.push_back(access);
  if (access.source >= outstanding_.size()) outstanding_.resize(access.source + 1);
  if (outstanding_[access.source] >= memory_->parameters().outstanding_faults) return;
  ++outstanding_[access.source];
  if (buffer_.size() >= memory_->parameters().fault_buffer) {
    ++c.buffer_overflows;
    return;
  }
  ++c.buffer_entries;
  buffer_.push_back({access.tree, access.page, access.source});
  if (state_ != State::kAsleep) return;
  state_ = State::kWaking;
  batches_in_run_ = 0;
  due_ = now + interrupt_;
}

Cycle Driver::next() const {
  switch (state_) {
    case State::kAsleep:
      return kNever;
    case State::kMakingRoom:  // a write-back's end, or the end of the eviction's own work
      return pages_ <= memory_->free_frames() || !evicting_ || memory_->lanes_idle() ? due_ : kNever;
    case State::kCopying:
      return memory_->reads_idle() ? due_ : kNever;
    default:
      return due_;
  }
}

void Driver::step(Cycle now, std::vector<Access>& replayed, std::vector<std::uint32_t>& batch_sizes) {
  while (advance(now, replayed, batch_sizes)) {
  }
}

/// One step of the state machine; false when it must wait.
bool Driver::advance(Cycle now, std::vector<Access>& replayed, std::vector<std::uint32_t>& batch_sizes) {
  if (state_ == State::kAsleep || due_ > now) return false;
  switch (state_) {
    case State::kWaking:
      fetch(now, batch_sizes);
      return true;
    case State::kServing:
      if (blocks_.empty()) {
        end_batch(now, replayed);
      } else {
        open_block(now);
      }
      return true;
    case State::kMakingRoom:
      return make_room(now);
    default:
      if (!memory_->reads_idle()) return false;
      if (memory_->parameters().replay == ReplayPolicy::kBlock) replay(replayed);
      state_ = State::kServing;
      return true;
  }
}

void Driver::fetch(Cycle now, std::vector<std::uint32_t>& batch_sizes) {
  Counters& c = memory_->counters();
  const auto size = std::min<std::size_t>(buffer_.size(), memory_->parameters().batch_faults);
  for (std::size_t i = 0; i < size; ++i) {
    const Entry e = buffer_.front();
    buffer_.pop_front();
    auto block =
        std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& b) { return b.tree == e.tree; });
    if (block == blocks_.end()) block = blocks_.insert(blocks_.end(), {e.tree, {}});
    if (block->faults.contains(e.page)) ++c.batch_duplicates;
    block->faults.insert(e.page);
  }
  const PageTable& table = memory_->table();
  std::sort(blocks_.begin(), blocks_.end(),
            [&](const Block& a, const Block& b) { return table[a.tree].id < table[b.tree].id; });
  ++c.batches;
  ++batches_in_run_;
  c.batch_entries += size;
  c.batch_blocks += blocks_.size();
  c.largest_batch = std::max<std::uint64_t>(c.largest_batch, size);
  batch_sizes.push_back(static_cast<std::uint32_t>(size));
  batch_start_ = now;
  batch_run_ = {blocks_.empty() ? 0 : blocks_.front().tree, 0, static_cast<std::uint16_t>(size)};
  state_ = State::kServing;
  due_ = now + batch_;
}

/// Pages that have come since they faulted are duplicates; the others decide what is copied.
void Driver::open_block(Cycle) {
  const Block block = blocks_.front();
  blocks_.pop_front();
  const Tree& tree = memory_->table()[block.tree];
  const PageSet missing = block.faults - tree.resident - tree.incoming - tree.leaving;
  memory_->counters().batch_duplicates += (block.faults & tree.resident).count();
  if (missing.empty()) return;
  transfers_ = memory_->stage(block.tree, missing, CutRule::kAtCauseChange);
  pages_ = 0;
  for (const Transfer& t : transfers_) {
    pages_ += t.run.pages;
    if (t.faulted) memory_->counters().faults += t.run.pages;
  }
  memory_->note_oversubscription(0, pages_);
  state_ = State::kMakingRoom;
  evicting_ = false;
}

/// Evicts until the block fits; each eviction costs the driver evict_ns, and frames come when the write-back
/// has ended. True when the state has changed.
bool Driver::make_room(Cycle now) {
  if (pages_ <= memory_->free_frames()) {
    copy_block(now);
    return true;
  }
  if (evicting_ && !memory_->lanes_idle()) return false;
  if (!memory_->evict_now(now)) return false;
  evicting_ = true;
  due_ = now + evict_;
  return due_ <= now;
}

void Driver::copy_block(Cycle now) {
  memory_->take_frames(pages_);
  for (const Transfer& t : transfers_) memory_->queue_read(t, true);
  const std::uint64_t kib = pages_ * (kPageBytes / 1024);
  due_ = now + block_ + memory_->cycles_of_ns(kib * memory_->parameters().kib_ps / 1000);
  state_ = State::kCopying;
}

void Driver::end_batch(Cycle now, std::vector<Access>& replayed) {
  const ReplayPolicy policy = memory_->parameters().replay;
  memory_->note(Event::Kind::kBatch, batch_start_, now, batch_run_);
  if (policy == ReplayPolicy::kBatchFlush) {
    memory_->counters().buffer_flushed += buffer_.size();
    buffer_.clear();
  }
  const bool now_or_never = policy == ReplayPolicy::kBatch || policy == ReplayPolicy::kBatchFlush;
  if (now_or_never || (buffer_.empty() && !stalled_.empty())) replay(replayed);
  sleep_or_go_on(now);
}

void Driver::replay(std::vector<Access>& replayed) {
  ++memory_->counters().replays;
  replayed.insert(replayed.end(), stalled_.begin(), stalled_.end());
  stalled_.clear();
  std::fill(outstanding_.begin(), outstanding_.end(), 0);
}

void Driver::sleep_or_go_on(Cycle now) {
  if (buffer_.empty()) {
    state_ = State::kAsleep;
    return;
  }
  state_ = State::kWaking;
  due_ = now;
  if (batches_in_run_ < memory_->parameters().batches_per_run) return;
  batches_in_run_ = 0;
  due_ = now + interrupt_;
}

}  // namespace lockstep::uvm
