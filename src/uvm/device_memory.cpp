#include "uvm/device_memory.hpp"

#include <bit>
#include <cassert>

namespace lockstep::uvm {

DeviceMemory::DeviceMemory(const MemorySettings& settings, const AddressSpace& space)
    : settings_(settings),
      table_(space),
      evictor_(evictors()[settings.parameters.evictor]),
      list_(evictor_->unit, evictor_->follows_accesses),
      remote_(settings.parameters, cycles_of_ns(settings.parameters.thrashing_lapse_ns)),
      chunks_(gives_chunks(settings.frames)),
      link_(*link_models()[settings.parameters.link], link_parameters()),
      frames_(settings.frames),
      free_(settings.frames),
      fault_times_(settings.core_khz),
      by_allocation_(space.allocations().size()) {
  assert(frames_ > 0);
  if (settings.parameters.smart_runtime) patterns_.emplace(space.allocations().size());
}

void DeviceMemory::grow() {
  by_allocation_.resize(table_.space().allocations().size());
  if (patterns_) patterns_->grow(by_allocation_.size());
}

bool DeviceMemory::gives_chunks(std::uint64_t frames) const {
  return settings_.parameters.fault_mode == FaultMode::kDriver && evictor_ == &kDriverChunk &&
         frames >= kPagesPerTree;
}

void DeviceMemory::enlarge(std::uint64_t frames) {
  if (frames <= frames_) return;
  if (free_ == frames_) chunks_ = gives_chunks(frames);
  free_ += frames - frames_;
  frames_ = frames;
}

// --- Faults ---

const PrefetchPolicy& DeviceMemory::prefetcher() const {
  const Parameters& p = settings_.parameters;
  const bool other = was_oversubscribed_ && !p.smart_runtime;  // which looks at its policies instead
  return *prefetchers()[other ? p.prefetcher_oversubscribed : p.prefetcher];
}

std::vector<Transfer> DeviceMemory::stage(TreeIndex index, const PageSet& faults, CutRule rule) {
  PrefetchContext context = prefetch_context(index, faults);
  const bool together = rule == CutRule::kAtCauseChange;  // all of them need frames at once
  const Tree before = table_[index];
  std::vector<Transfer> transfers;
  stage_faults(prefetcher(), table_, index, faults, rule, context, transfers);
  std::uint64_t largest = 0, sum = 0;
  for (const Transfer& t : transfers) {
    largest = std::max<std::uint64_t>(largest, t.run.pages);
    sum += t.run.pages;
  }
  if ((together ? sum : largest) <= frames_) {
    note_pattern(transfers);
    return transfers;
  }
  PageSet some;
  unsigned taken = 0;
  faults.for_each([&](unsigned page) {
    if (!together || taken++ < frames_) some.insert(page);
  });
  table_[index] = before;
  transfers.clear();
  context.along = {};
  stage_faults(kNoPrefetch, table_, index, some, rule, context, transfers);
  note_pattern(transfers);
  return transfers;
}

/// The driver brings all of a block that prefers the device with its first page (spec D.2).
PrefetchContext DeviceMemory::prefetch_context(TreeIndex index, const PageSet& faults) {
  PrefetchContext context{random_, settings_.parameters.prefetch_threshold};
  context.barred = remote_.barred(index);
  context.count_leaving = settings_.parameters.early_reuse;
  const Tree& tree = table_[index];
  const PageSet preferred = remote_.advice.of(index).prefer_device & tree.all();
  if ((faults & preferred).empty() || !(tree.resident & preferred).empty()) return context;
  if (settings_.parameters.fault_mode == FaultMode::kDriver) context.along = preferred;
  return context;
}

void DeviceMemory::queue_read(const Transfer& transfer, bool frames_taken) {
  if (!(table_[transfer.run.tree].remote & transfer.run.set()).empty())
    unmap_remote(transfer.run.tree, transfer.run.set());
  reads_.push_back({transfer, 0, frames_taken});
  if (!frames_taken) staged_ += transfer.run.pages;
  changed_ = true;
}

void DeviceMemory::queue_handling(Cycle cycles, const Run& run) {
  reads_.push_back({{run, true}, cycles, true});
  changed_ = true;
}

void DeviceMemory::note_oversubscription(std::uint64_t staged_before, std::uint64_t staged_now) {
  if (oversubscribed_ || staged_now == staged_before) return;
  if (!eviction_due(0, frames_, free_, staged_now, settings_.parameters.free_buffer_percent)) return;
  oversubscribed_ = was_oversubscribed_ = true;
  counters_.oversubscribed = 1;
  apply_smart_choice();
}

// --- Eviction ---

EvictionRules DeviceMemory::rules() const {
  return {settings_.parameters.reserve_percent, settings_.parameters.whole_units};
}

bool DeviceMemory::evict_with(const EvictionRules& rules, Cycle now) {
  apply_smart_choice();
  std::vector<Run> runs;
  if (!evict(*evictor_, list_, table_, rules, random_, runs)) return false;
  ++counters_.evictions;
  for (const Run& run : runs) queue_leaving(run, droppable(run), true, now);
  changed_ = true;
  return true;
}

void DeviceMemory::evict_if_due(Cycle now) {
  if (fruitless_ ||
      !eviction_due(leaving_pages_, frames_, free_, staged_, settings_.parameters.free_buffer_percent))
    return;
  fruitless_ = !evict_with(rules(), now);
}

bool DeviceMemory::evict_now(Cycle now) {
  if (evict_with(rules(), now)) return true;
  if (!evict_with({0, false}, now)) return false;
  ++counters_.forced_evictions;
  return true;
}

bool DeviceMemory::droppable(const Run& run) const {
  const Tree& tree = table_[run.tree];
  switch (settings_.parameters.clean_drop) {
    case CleanDrop::kReadOnlyTrees:  // meaningful for whole trees only (spec B.6)
      return evictor_->unit == EvictUnit::kTree && run.first == 0 && !tree.written;
    case CleanDrop::kClean:
      return (tree.dirty & run.set()).empty();
    default:
      return false;
  }
}

void DeviceMemory::add_write_back(WriteBack entry, Cycle now) {
  leaving_pages_ += entry.run.pages;
  entry.shootdown = next_shootdown_;
  entry.acknowledgements = settings_.sources;
  entry.not_before = now;
  if (settings_.parameters.early_reuse) {
    writes_.push_back(entry);
    return;
  }
  invalidate(entry);
  const Parameters& p = settings_.parameters;
  entry.not_before = now + (p.shootdown == ShootdownScope::kAll ? p.l2_flush : p.l2_shootdown);
  awaiting_.push_back(entry);
}

/// The pages are no longer in the page table; the TLBs are told.
void DeviceMemory::invalidate(const WriteBack& entry) {
  const Run& run = entry.run;
  Tree& tree = table_[run.tree];
  const std::uint64_t dirty = (tree.dirty & run.set()).count();
  tree.resident -= run.set();
  tree.dirty -= run.set();
  tree.untouched -= run.set();
  tree.duplicated -= run.set();
  tree.unbacked -= run.set();
  shootdowns_.push_back({next_shootdown_++, tree.id, run.first, run.pages});
  if (!entry.evicted) return;
  counters_.evicted_dirty_pages += dirty;
  counters_.evicted_clean_pages += run.pages - dirty;
  tree.evicted |= run.set();
  ++counters_of(run).evictions;
}

void DeviceMemory::acknowledge(std::uint32_t shootdown, Cycle now) {
  const auto entry = std::find_if(awaiting_.begin(), awaiting_.end(),
                                  [&](const WriteBack& w) { return w.shootdown == shootdown; });
  if (entry == awaiting_.end() || --entry->acknowledgements > 0) return;
  entry->not_before = std::max(entry->not_before, now);
  changed_ = true;
  const WriteBack ready = *entry;
  awaiting_.erase(entry);
  if (ready.handed) return directory_->stands_still(ready.run);
  writes_.push_back(ready);
}

// --- Lane to the host ---

void DeviceMemory::step_write(Cycle now) {
  if (write_.over(now)) finish_write();
  if (!may_begin(Direction::kToHost)) return;
  if (!write_.busy && !writes_.empty() && writes_.front().not_before <= now) start_write(now);
}

void DeviceMemory::finish_write() {
  write_.busy = false;
  changed_ = true;
  fruitless_ = false;
  leaving_pages_ -= writing_.run.pages;
  const bool left = settings_.parameters.early_reuse && !writing_.keep;  // when it began
  if (left) return;
  Tree& tree = table_[writing_.run.tree];
  const PageSet pages = writing_.run.set();
  tree.leaving -= pages;
  gone_ = true;
  if (writing_.keep) {
    tree.resident |= pages;
    tree.counted |= pages;
    tree.duplicated |= pages;
    list_.arrived(writing_.run.tree, pages);
    if (directory_) directory_->backed(writing_.run.tree, pages);
    return;
  }
  give_frames(writing_.run);
  if (directory_) return directory_->left(writing_.run.tree, pages, !writing_.drop);
  tree.remote |= pages & remote_.advice.of(writing_.run.tree).accessed_by;
}

void DeviceMemory::start_write(Cycle now) {
  writing_ = writes_.front();
  writes_.pop_front();
  const Run& run = writing_.run;
  const Cycle cycles = writing_.drop ? 0 : link_.cycles(Direction::kToHost, run.pages);
  note(writing_.drop ? Event::Kind::kDrop : Event::Kind::kWriteBack, now, now + cycles, run);
  if (settings_.parameters.early_reuse) {
    if (!writing_.keep) table_[run.tree].leaving -= run.set();
    invalidate(writing_);
    if (!writing_.keep) give_frames(run);
  }
  if (remote_.by_counters()) remote_.counters.round_trip(run.tree, table_[run.tree].leaves());
  write_ = {true, now, now + cycles};
  changed_ = true;
  move(write_, Direction::kToHost, run, writing_.drop, writing_.keep);
  if (writing_.drop) {
    ++counters_.clean_drops;
    if (!write_.moving) finish_write();
    return;
  }
  ++counters_.write_backs;
  counters_.bytes_to_host += run.bytes();
  AllocationCounters& own = counters_of(run);
  ++own.write_backs;
  own.bytes_to_host += run.bytes();
  counters_.write_busy_cycles += cycles;
}

void DeviceMemory::move(Lane& lane, Direction direction, const Run& run, bool discard, bool keep) {
  if (!settings_.moves_data) return;
  lane.moving = true;
  moves_.push_back(
      {direction, discard, keep, table_[run.tree].id, run.first, run.pages, lane.end - lane.start});
}

/// UVMSmart: an access to a page of a staged write-back takes all of it back, and marks all of it dirty.
void DeviceMemory::take_back(TreeIndex index, unsigned page) {
  const auto entry = std::find_if(writes_.begin(), writes_.end(), [&](const WriteBack& w) {
    return w.run.tree == index && w.run.set().contains(page);
  });
  if (entry == writes_.end()) return;
  const Run run = entry->run;
  writes_.erase(entry);
  Tree& tree = table_[index];
  tree.leaving -= run.set();
  tree.counted |= run.set();
  tree.dirty |= run.set();
  list_.arrived(index, run.set());
  leaving_pages_ -= run.pages;
  ++counters_.cancelled_write_backs;
  changed_ = true;
}

// --- Lane to the device ---

/// Slots go first, once there is room for the transfer at the front (spec A.5.6).
void DeviceMemory::step_read(Cycle now) {
  if (read_.over(now)) finish_read(now);
  if (!may_begin(Direction::kToDevice)) return;
  if (read_.busy || (reads_.empty() && slots_waiting_ == 0)) return;
  const bool room = reads_.empty() || reads_.front().frames_taken || needed(reads_.front()) <= free_;
  if (room && slots_waiting_ > 0) {
    --slots_waiting_;
    reading_ = {{}, settings_.parameters.remote_slot, true, true};
    read_ = {true, now, now + reading_.handling};
    counters_.read_busy_cycles += reading_.handling;
    changed_ = true;
  } else if (room) {
    start_read(now);
  } else if (stuck()) {
    (void)evict_now(now);
  }
}

/// Nothing under way will make room by itself, and no unit may leave by the rules.
bool DeviceMemory::stuck() const {
  return fruitless_ && !write_.busy && writes_.empty() && awaiting_.empty();
}

void DeviceMemory::start_read(Cycle now) {
  reading_ = reads_.front();
  reads_.pop_front();
  const Run& run = reading_.transfer.run;
  changed_ = true;
  if (reading_.handling > 0) {
    read_ = {true, now, now + reading_.handling};
    counters_.fault_handling_cycles += reading_.handling;
    fault_times_.taken(run, now);
    return note(Event::Kind::kFaultHandling, read_.start, read_.end, run);
  }
  const Cycle cycles = link_.cycles(Direction::kToDevice, run.pages);
  read_ = {true, now, now + cycles};
  fault_times_.started(run, now);
  move(read_, Direction::kToDevice, run, false, false);
  if (!reading_.frames_taken) {
    take_frames(run.tree, run.pages);
    staged_ -= run.pages;
  }
  ++counters_.transfers;
  counters_.bytes_to_device += run.bytes();
  AllocationCounters& own = counters_of(run);
  ++own.transfers;
  own.bytes_to_device += run.bytes();
  own.faulted_pages += (run.set() & table_[run.tree].wanted).count();
  counters_.read_busy_cycles += cycles;
  const unsigned size = static_cast<unsigned>(std::bit_width(run.pages - 1u));
  ++counters_.transfer_sizes[std::min(size, kTransferSizes - 1)];
  note(reading_.transfer.faulted ? Event::Kind::kTransfer : Event::Kind::kPrefetch, now, now + cycles, run);
}

void DeviceMemory::finish_read(Cycle now) {
  read_.busy = false;
  changed_ = true;
  if (reading_.slot) ++slots_done_;
  if (reading_.handling > 0) return;
  arrive(reading_.transfer.run, now);
  if (directory_) directory_->arrived(reading_.transfer.run.tree, reading_.transfer.run.set(), now);
}

void DeviceMemory::arrive(const Run& run, Cycle now) {
  changed_ = true;
  fruitless_ = false;
  const PageSet pages = run.set();
  Tree& tree = table_[run.tree];
  const PageSet unasked = pages - tree.wanted;
  tree.resident |= pages;
  tree.incoming -= pages;
  tree.wanted -= pages;
  tree.untouched |= unasked;
  counters_.prefetched_pages += unasked.count();
  counters_.thrashed_pages += (tree.evicted & pages).count();
  const PageSet read_mostly = remote_.advice.of(run.tree).read_mostly & pages;
  const PageSet copies = directory_ ? tree.shared & pages : read_mostly - tree.wanted_to_write;
  tree.duplicated |= copies;
  counters_.duplicated_pages += copies.count();
  tree.wanted_to_write -= pages;
  tree.shared -= pages;
  list_.arrived(run.tree, pages);
  fault_times_.arrived(run, now);
  counters_.peak_resident_pages = std::max(counters_.peak_resident_pages, frames_ - free_);
  arrived_.push_back(run);
}

// --- Accesses ---

void DeviceMemory::accessed(TreeIndex index, unsigned page, bool write) {
  Tree& tree = table_[index];
  ++tree.accesses;
  if (!tree.resident.contains(page)) return;  // reported by an SM after the page has left
  if (tree.leaving.contains(page)) take_back(index, page);
  if (tree.untouched.contains(page)) {
    tree.untouched.erase(page);
    ++counters_.prefetched_used;
  }
  if (write) {
    tree.dirty.insert(page);
    tree.written = true;
  }
  list_.accessed(index, page);
  changed_ = changed_ || fruitless_;  // the next decision may find something
  fruitless_ = false;
}

}  // namespace lockstep::uvm
