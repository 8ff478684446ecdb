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
  Counters& c = memory_->log().counters;
  stalled_.push_back(access);
  if (access.source >= outstanding_.size()) outstanding_.resize(access.source + 1);
  if (outstanding_[access.source] >= memory_->parameters().outstanding_faults) return;
  ++outstanding_[access.source];
  if (buffer_.size() >= memory_->parameters().fault_buffer) {
    ++c.buffer_overflows;
    return;
  }
  ++c.buffer_entries;
  buffer_.push_back({access.tree, access.page, access.source, access.write});
  wake(now);
}

void Driver::notify(TreeIndex tree, unsigned leaf, Cycle now) {
  notified_.push_back({tree, static_cast<std::uint16_t>(leaf), 0, false});
  wake(now);
}

void Driver::wake(Cycle now) {
  if (state_ != State::kAsleep) return;
  throttled_ = false;
  state_ = State::kWaking;
  since_ = now;
  batches_in_run_ = 0;
  due_ = now + interrupt_;
}

Cycle Driver::next() const {
  switch (state_) {
    case State::kAsleep:
      return kNever;
    case State::kMakingRoom:  // a write-back's end, or the end of the eviction's own work
      return memory_->frames().needed(tree_, pages_) <= memory_->frames().free() || !evicting_ ||
                     memory_->lanes_idle()
                 ? due_
                 : kNever;
    case State::kCopying:
      return memory_->reads_idle() ? due_ : kNever;
    default:
      return due_;
  }
}

void Driver::step(Cycle now, std::vector<Access>& replayed, std::vector<std::uint32_t>& batch_sizes) {
  for (bool more = true; more;) {
    const State before = state_;
    more = advance(now, replayed, batch_sizes);
    if (state_ != before) book(before, now);
  }
}

/// The time since the last change of state was spent in `state`.
void Driver::book(State state, Cycle now) {
  Counters& c = memory_->log().counters;
  const Cycle spent = now - since_;
  since_ = now;
  if (state == State::kWaking) c.driver_wake_cycles += spent;
  if (state == State::kServing) c.driver_batch_cycles += spent;
  if (state == State::kMakingRoom) c.driver_room_cycles += spent;
  if (state == State::kPreparing || state == State::kCopying) c.driver_copy_cycles += spent;
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
    case State::kPreparing:
      copy_block(now);
      return true;
    default:
      if (!memory_->reads_idle()) return false;
      if (memory_->parameters().replay == ReplayPolicy::kBlock) replay(replayed);
      state_ = State::kServing;
      return true;
  }
}

Driver::Block& Driver::block_of(TreeIndex tree) {
  auto block = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& b) { return b.tree == tree; });
  return block != blocks_.end() ? *block : blocks_.emplace_back(Block{tree, {}, {}, {}});
}

/// Entries up to the driver's copy of the buffer's write position, which it reads when it has used that up.
std::size_t Driver::fetch_faults(Cycle now) {
  if (known_ == 0) known_ = buffer_.size();
  const auto size = std::min<std::size_t>(known_, memory_->parameters().batch_faults);
  for (std::size_t i = 0; i < size; ++i) {
    const Entry e = buffer_.front();
    buffer_.pop_front();
    Block& block = block_of(e.tree);
    if (block.faults.contains(e.page)) ++batch_duplicates_;
    block.faults.insert(e.page);
    memory_->log().fault_times.taken({e.tree, e.page, 1}, now);
    if (e.write) block.writes.insert(e.page);
  }
  known_ -= size;
  return size;
}

void Driver::fetch(Cycle now, std::vector<std::uint32_t>& batch_sizes) {
  Counters& c = memory_->log().counters;
  batch_duplicates_ = 0;
  const std::size_t size = fetch_faults(now);
  for (std::uint32_t i = 0; i < memory_->parameters().batch_faults && !notified_.empty(); ++i) {
    block_of(notified_.front().tree).counted |= PageSet::leaf(notified_.front().page);
    notified_.pop_front();
  }
  const PageTable& table = memory_->table();
  std::sort(blocks_.begin(), blocks_.end(),
            [&](const Block& a, const Block& b) { return table[a.tree].base < table[b.tree].base; });
  ++c.batches;
  ++batches_in_run_;
  c.batch_entries += size;
  c.batch_blocks += blocks_.size();
  c.largest_batch = std::max<std::uint64_t>(c.largest_batch, size);
  batch_sizes.push_back(static_cast<std::uint32_t>(size));
  batch_size_ = size;
  batch_start_ = now;
  batch_run_ = {blocks_.empty() ? 0 : blocks_.front().tree, 0, static_cast<std::uint16_t>(size)};
  state_ = State::kServing;
  due_ = now + batch_;
}

/// Those of the block's absent pages that move; the others are put off or mapped where they are.
PageSet Driver::to_be_brought(const Block& block, Cycle now) {
  const Tree& tree = memory_->table()[block.tree];
  RemoteControl& remote = memory_->remote();
  PageSet missing = block.faults - tree.resident - tree.incoming - tree.leaving;
  const PageSet faults = missing;
  faults.for_each([&](unsigned page) {
    using Hint = Thrashing::Hint;
    const Hint hint =
        remote.thrashing ? remote.thrashing->hint(block.tree, page, Processor::kDevice, now) : Hint::kNone;
    if (hint == Hint::kThrottle) {
      ++memory_->log().counters.throttled_faults;
      throttled_ = true;
      missing.erase(page);
    } else if (remote.kept(block.tree, page, block.writes.contains(page), now)) {
      if (hint == Hint::kPin) ++memory_->log().counters.pinned_pages;
      if (memory_->directory()) {
        mapped_.insert(page);
      } else {
        memory_->table()[block.tree].remote.insert(page);
      }
      missing.erase(page);
    }
  });
  const PageSet counted = block.counted & tree.all();
  return missing | (counted - tree.resident - tree.incoming - tree.leaving);
}

/// Pages that have come since they faulted are duplicates; the others decide what is copied.
void Driver::open_block(Cycle now) {
  const Block block = blocks_.front();
  blocks_.pop_front();
  Counters& c = memory_->log().counters;
  const Tree& tree = memory_->table()[block.tree];
  const PageSet written = block.writes & tree.duplicated;
  upgraded_ = mapped_ = {};
  if (memory_->directory()) {
    upgraded_ = written;
  } else {
    written.for_each([&](unsigned page) { memory_->collapse(block.tree, page); });
  }
  batch_duplicates_ += ((block.faults & tree.resident) - written).count();
  const PageSet missing = to_be_brought(block, now);
  tree_ = block.tree;
  if (missing.empty()) return change_rights(now);
  transfers_ = memory_->staging().stage(block.tree, missing, CutRule::kAtCauseChange);
  pages_ = 0;
  for (const Transfer& t : transfers_) {
    pages_ += t.run.pages;
    if (!t.faulted) continue;
    c.faults += (t.run.set() & block.faults).count();
    if (memory_->remote().by_counters()) c.counted_migrations += t.run.pages;
    memory_->log().note(Event::Kind::kFault, now, now, t.run);
  }
  memory_->evictions().note_oversubscription(0, memory_->frames().needed(tree_, pages_));
  state_ = State::kMakingRoom;
  evicting_ = false;
}

/// Nothing is to come, but pages may be to be written or mapped that other devices have.
void Driver::change_rights(Cycle now) {
  if (upgraded_.empty() && mapped_.empty()) return;
  memory_->bring(tree_, {}, upgraded_, mapped_);
  due_ = now;
  state_ = State::kCopying;
}

/// Evicts until the block fits; each eviction costs the driver evict_ns, and frames come when the write-back
/// has ended. True when the state has changed.
bool Driver::make_room(Cycle now) {
  if (memory_->frames().needed(tree_, pages_) <= memory_->frames().free()) {
    prepare_block(now);
    return true;
  }
  if (evicting_ && !memory_->lanes_idle()) return false;
  if (!memory_->evictions().evict_now(now)) return false;
  evicting_ = true;
  due_ = now + evict_;
  return due_ <= now;
}

void Driver::prepare_block(Cycle now) {
  memory_->frames().take(tree_, pages_);
  const std::uint64_t kib = pages_ * (kPageBytes / 1024);
  due_ = now + block_ + memory_->cycles_of_ns(kib * memory_->parameters().kib_ps / 1000);
  state_ = State::kPreparing;
}

void Driver::copy_block(Cycle now) {
  PageSet brought;
  for (const Transfer& t : transfers_) brought |= t.run.set();
  memory_->bring(tree_, transfers_, upgraded_, mapped_);
  if (memory_->remote().thrashing)
    memory_->remote().thrashing->migrated(tree_, brought, Processor::kDevice, now);
  due_ = now;
  state_ = State::kCopying;
}

void Driver::end_batch(Cycle now, std::vector<Access>& replayed) {
  const ReplayPolicy policy = memory_->parameters().replay;
  memory_->log().note(Event::Kind::kBatch, batch_start_, now, batch_run_);
  memory_->log().counters.batch_duplicates += batch_duplicates_;
  if (policy == ReplayPolicy::kBatchFlush) flush();
  const bool now_or_never = policy == ReplayPolicy::kBatch || policy == ReplayPolicy::kBatchFlush;
  if (now_or_never || (buffer_.empty() && !stalled_.empty())) replay(replayed);
  sleep_or_go_on(now);
}

/// What lies up to the known write position; with many duplicates the driver reads that anew first.
void Driver::flush() {
  if (batch_duplicates_ * 100 > batch_size_ * memory_->parameters().put_update_percent)
    known_ = buffer_.size();
  memory_->log().counters.buffer_flushed += known_;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(known_));
  known_ = 0;
}

void Driver::replay(std::vector<Access>& replayed) {
  ++memory_->log().counters.replays;
  replayed.insert(replayed.end(), stalled_.begin(), stalled_.end());
  stalled_.clear();
  std::fill(outstanding_.begin(), outstanding_.end(), 0);
}

void Driver::sleep_or_go_on(Cycle now) {
  if (buffer_.empty() && notified_.empty()) {
    state_ = State::kAsleep;
    return;
  }
  state_ = State::kWaking;
  due_ = now;
  const Parameters& p = memory_->parameters();
  if (batches_in_run_ < (throttled_ ? p.throttled_batches_per_run : p.batches_per_run)) return;
  batches_in_run_ = 0;
  throttled_ = false;
  due_ = now + interrupt_;
}

}  // namespace lockstep::uvm
