#include "uvm/departures.hpp"

#include <algorithm>

namespace lockstep::uvm {
namespace {

Run run_of(TreeIndex tree, unsigned first, unsigned pages) {
  return {tree, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(pages)};
}

}  // namespace

// --- Decisions ---

/// Takes pages out of their tree and of the list of what may be evicted.
void Departures::take_out(TreeIndex index, const PageSet& pages) {
  Tree& tree = state_->table[index];
  tree.counted -= pages;
  tree.leaving |= pages;
  state_->residents.left(index, tree.resident - tree.leaving);
  state_->changed = true;
}

void Departures::queue(const Run& run, bool drop, bool evicted, Cycle now) {
  const PageSet both = backed(state_->table[run.tree]) & run.set();
  if (drop || both.empty()) return add({run, drop, evicted}, now);
  for (const bool duplicated : {true, false})
    (duplicated ? both : run.set() - both).for_each_run([&](unsigned first, unsigned count) {
      add({run_of(run.tree, first, count), duplicated, evicted}, now);
    });
}

void Departures::expel(TreeIndex index, const PageSet& pages, bool drop, Cycle now) {
  const Tree& tree = state_->table[index];
  const PageSet here = (tree.resident - tree.leaving) & pages;
  if (here.empty()) return;
  take_out(index, here);
  here.for_each_run(
      [&](unsigned first, unsigned count) { queue(run_of(index, first, count), drop, false, now); });
}

void Departures::copy_to_host(TreeIndex index, const PageSet& pages, Cycle now) {
  const Tree& tree = state_->table[index];
  const PageSet here = (tree.resident - tree.leaving - backed(tree)) & pages;
  if (here.empty()) return;
  take_out(index, here);
  here.for_each_run([&](unsigned first, unsigned count) {
    add({run_of(index, first, count), false, false, true}, now);
  });
}

void Departures::hand_over(TreeIndex index, const PageSet& pages, bool keep, Cycle now) {
  if (pages.empty()) return;
  take_out(index, pages);
  pages.for_each_run([&](unsigned first, unsigned count) {
    add({run_of(index, first, count), false, false, keep, true}, now);
  });
}

void Departures::add(WriteBack entry, Cycle now) {
  pages_ += entry.run.pages;
  entry.acknowledgements = state_->settings.sources;
  entry.not_before = now;
  const Parameters& p = state_->parameters();
  if (p.early_reuse) return ready_.push_back(entry);
  entry.shootdown = invalidate(entry.run, entry.evicted);
  entry.not_before = now + (p.shootdown == ShootdownScope::kAll ? p.l2_flush : p.l2_shootdown);
  awaiting_.push_back(entry);
}

std::uint32_t Departures::invalidate(const Run& run, bool evicted) {
  Tree& tree = state_->table[run.tree];
  const std::uint64_t dirty = (tree.dirty & run.set()).count();
  tree.resident -= run.set();
  tree.dirty -= run.set();
  tree.untouched -= run.set();
  tree.duplicated -= run.set();
  tree.unbacked -= run.set();
  const std::uint32_t id = state_->shootdowns.add(tree.id, run.first, run.pages);
  if (!evicted) return id;
  MigrationLog& log = state_->log;
  log.counters.evicted_dirty_pages += dirty;
  log.counters.evicted_clean_pages += run.pages - dirty;
  tree.evicted |= run.set();
  ++log.of(run).evictions;
  return id;
}

void Departures::acknowledge(std::uint32_t shootdown, Cycle now) {
  const auto entry = std::find_if(awaiting_.begin(), awaiting_.end(),
                                  [&](const WriteBack& w) { return w.shootdown == shootdown; });
  if (entry == awaiting_.end() || --entry->acknowledgements > 0) return;
  entry->not_before = std::max(entry->not_before, now);
  state_->changed = true;
  const WriteBack ready = *entry;
  awaiting_.erase(entry);
  if (ready.handed) return state_->directory->stands_still(ready.run);
  ready_.push_back(ready);
}

void Departures::take_back(TreeIndex index, unsigned page) {
  const auto entry = std::find_if(ready_.begin(), ready_.end(), [&](const WriteBack& w) {
    return w.run.tree == index && w.run.set().contains(page);
  });
  if (entry == ready_.end()) return;
  const Run run = entry->run;
  ready_.erase(entry);
  Tree& tree = state_->table[index];
  tree.leaving -= run.set();
  tree.counted |= run.set();
  tree.dirty |= run.set();
  state_->residents.arrived(index, run.set());
  pages_ -= run.pages;
  ++state_->log.counters.cancelled_write_backs;
  state_->changed = true;
}

// --- The lane to the host ---

void Departures::step(Cycle now) {
  if (state_->lanes.over(Direction::kToHost, now)) finish();
  if (state_->lanes.may_begin(Direction::kToHost) && wants_link(now)) start(now);
}

void Departures::start(Cycle now) {
  writing_ = ready_.front();
  ready_.pop_front();
  const Run& run = writing_.run;
  Tree& tree = state_->table[run.tree];
  const Cycle cycles = writing_.drop ? 0 : state_->link.cycles(Direction::kToHost, run.pages);
  state_->log.note(writing_.drop ? Event::Kind::kDrop : Event::Kind::kWriteBack, now, now + cycles, run);
  if (state_->parameters().early_reuse) {
    if (!writing_.keep) tree.leaving -= run.set();
    invalidate(run, writing_.evicted);
    if (!writing_.keep) state_->frames.give(run);
  }
  if (state_->remote.by_counters()) state_->remote.counters.round_trip(run.tree, tree.leaves());
  LinkLanes& lanes = state_->lanes;
  lanes.begin(Direction::kToHost, now, cycles);
  state_->changed = true;
  lanes.move({Direction::kToHost, writing_.drop, writing_.keep, tree.id, run.first, run.pages});
  if (!writing_.drop) return book(run, cycles);
  ++state_->log.counters.clean_drops;
  if (!lanes.moving(Direction::kToHost)) finish();
}

void Departures::book(const Run& run, Cycle cycles) {
  MigrationLog& log = state_->log;
  ++log.counters.write_backs;
  log.counters.bytes_to_host += run.bytes();
  AllocationCounters& own = log.of(run);
  ++own.write_backs;
  own.bytes_to_host += run.bytes();
  log.counters.write_busy_cycles += cycles;
}

void Departures::finish() {
  state_->lanes.end(Direction::kToHost);
  state_->changed = true;
  state_->fruitless = false;
  const Run& run = writing_.run;
  pages_ -= run.pages;
  const bool left = state_->parameters().early_reuse && !writing_.keep;  // when it began
  if (left) return;
  Tree& tree = state_->table[run.tree];
  const PageSet pages = run.set();
  tree.leaving -= pages;
  gone_ = true;
  DirectoryClient* directory = state_->directory;
  if (writing_.keep) {
    stay_as_duplicates(run.tree, pages);
    if (directory) directory->backed(run.tree, pages);
    return;
  }
  state_->frames.give(run);
  if (directory) return directory->left(run.tree, pages, !writing_.drop);
  tree.remote |= pages & state_->remote.advice.of(run.tree).accessed_by;
}

void Departures::stay_as_duplicates(TreeIndex index, const PageSet& pages) {
  Tree& tree = state_->table[index];
  tree.resident |= pages;
  tree.counted |= pages;
  tree.duplicated |= pages;
  state_->residents.arrived(index, pages);
}

void Departures::handed_over(const Run& run, bool keep) {
  Tree& tree = state_->table[run.tree];
  pages_ -= run.pages;
  tree.leaving -= run.set();
  gone_ = state_->changed = true;
  state_->fruitless = false;
  if (!keep) return state_->frames.give(run);
  tree.unbacked |= run.set();
  stay_as_duplicates(run.tree, run.set());
}

Cycle Departures::next_event() const {
  const LinkLanes& lanes = state_->lanes;
  const bool may_write =
      !lanes.busy(Direction::kToHost) && !ready_.empty() && lanes.may_begin(Direction::kToHost);
  return may_write ? ready_.front().not_before : lanes.next_end(Direction::kToHost);
}

}  // namespace lockstep::uvm
