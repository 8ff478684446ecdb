#include "uvm/arrivals.hpp"

#include <algorithm>
#include <bit>

namespace lockstep::uvm {

void Arrivals::queue(const Transfer& transfer, bool frames_taken) {
  reads_.push_back({transfer, 0, frames_taken});
  if (!frames_taken) staged_ += transfer.run.pages;
  state_->changed = true;
}

void Arrivals::queue_handling(Cycle cycles, const Run& run) {
  reads_.push_back({{run, true}, cycles, true});
  state_->changed = true;
}

/// Slots go first, once there is room for the transfer at the front (UVMSmart).
bool Arrivals::step(Cycle now) {
  LinkLanes& lanes = state_->lanes;
  if (lanes.over(Direction::kToDevice, now)) finish(now);
  if (!lanes.may_begin(Direction::kToDevice)) return false;
  if (lanes.busy(Direction::kToDevice) || (reads_.empty() && slots_waiting_ == 0)) return false;
  if (!reads_.empty() && !has_room()) return true;
  slots_waiting_ > 0 ? start_slot(now) : start(now);
  return false;
}

void Arrivals::let_pass() {
  const auto first =
      std::ranges::find_if(reads_, [](const Read& r) { return r.frames_taken && r.handling == 0; });
  if (first == reads_.end()) return;
  std::rotate(reads_.begin(), first, first + 1);
  state_->changed = true;
}

void Arrivals::start_slot(Cycle now) {
  --slots_waiting_;
  const Cycle cycles = state_->parameters().remote_slot;
  reading_ = {{}, cycles, true, true};
  state_->lanes.begin(Direction::kToDevice, now, cycles);
  state_->log.counters.read_busy_cycles += cycles;
  state_->changed = true;
}

void Arrivals::start(Cycle now) {
  reading_ = reads_.front();
  reads_.pop_front();
  const Run& run = reading_.transfer.run;
  LinkLanes& lanes = state_->lanes;
  MigrationLog& log = state_->log;
  state_->changed = true;
  if (reading_.handling > 0) {
    lanes.begin(Direction::kToDevice, now, reading_.handling);
    log.counters.fault_handling_cycles += reading_.handling;
    log.fault_times.taken(run, now);
    return log.note(Event::Kind::kFaultHandling, now, now + reading_.handling, run);
  }
  const Cycle cycles = state_->link.cycles(Direction::kToDevice, run.pages);
  lanes.begin(Direction::kToDevice, now, cycles);
  log.fault_times.started(run, now);
  lanes.move({Direction::kToDevice, false, false, state_->table[run.tree].id, run.first, run.pages});
  if (!reading_.frames_taken) {
    state_->frames.take(run.tree, run.pages);
    staged_ -= run.pages;
  }
  book(cycles);
  log.note(reading_.transfer.faulted ? Event::Kind::kTransfer : Event::Kind::kPrefetch, now, now + cycles,
           run);
}

void Arrivals::book(Cycle cycles) {
  const Run& run = reading_.transfer.run;
  Counters& c = state_->log.counters;
  ++c.transfers;
  c.bytes_to_device += run.bytes();
  AllocationCounters& own = state_->log.of(run);
  ++own.transfers;
  own.bytes_to_device += run.bytes();
  own.faulted_pages += (run.set() & state_->table[run.tree].wanted).count();
  c.read_busy_cycles += cycles;
  const auto size = static_cast<unsigned>(std::bit_width(run.pages - 1u));
  ++c.transfer_sizes[std::min(size, kTransferSizes - 1)];
}

void Arrivals::finish(Cycle now) {
  state_->lanes.end(Direction::kToDevice);
  state_->changed = true;
  if (reading_.slot) ++slots_done_;
  if (reading_.handling > 0) return;
  const Run& run = reading_.transfer.run;
  arrive(run, now);
  if (state_->directory) state_->directory->arrived(run.tree, run.set(), now);
}

void Arrivals::arrive(const Run& run, Cycle now) {
  state_->changed = true;
  state_->fruitless = false;
  const PageSet pages = run.set();
  Tree& tree = state_->table[run.tree];
  Counters& c = state_->log.counters;
  const PageSet unasked = pages - tree.wanted;
  tree.resident |= pages;
  tree.incoming -= pages;
  tree.wanted -= pages;
  tree.untouched |= unasked;
  c.prefetched_pages += unasked.count();
  c.thrashed_pages += (tree.evicted & pages).count();
  const PageSet read_mostly = state_->remote.advice.of(run.tree).read_mostly & pages;
  const PageSet copies = state_->directory ? tree.shared & pages : read_mostly - tree.wanted_to_write;
  tree.duplicated |= copies;
  c.duplicated_pages += copies.count();
  tree.wanted_to_write -= pages;
  tree.shared -= pages;
  state_->residents.arrived(run.tree, pages);
  state_->log.fault_times.arrived(run, now);
  c.peak_resident_pages = std::max(c.peak_resident_pages, state_->frames.used());
  arrived_.push_back(run);
}

std::uint64_t Arrivals::taken_frames() const {
  const bool under_way = state_->lanes.busy(Direction::kToDevice) && reading_.handling == 0;
  std::uint64_t pages = under_way ? reading_.transfer.run.pages : 0;
  for (const Read& r : reads_)
    if (r.frames_taken && r.handling == 0) pages += r.transfer.run.pages;
  return pages;
}

}  // namespace lockstep::uvm
