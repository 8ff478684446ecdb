#include "uvm/fault_times.hpp"

#include <algorithm>
#include <bit>

namespace lockstep::uvm {

template <class Set>
void FaultTimes::set(const Run& run, Set&& set) {
  if (run.tree >= open_.size()) return;
  (open_[run.tree] & run.set()).for_each([&](unsigned page) {
    set(times_.find(page_key(run.tree, page))->second);
  });
}

void FaultTimes::raised(TreeIndex tree, unsigned page, Cycle asked, Cycle now) {
  if (tree >= open_.size()) open_.resize(tree + std::size_t{1});
  if (open_[tree].contains(page)) return;
  open_[tree].insert(page);
  Times& t = times_[page_key(tree, page)];
  t.asked = asked;
  t.raised = now;
}

void FaultTimes::taken(const Run& run, Cycle now) {
  set(run, [&](Times& t) { t.taken = std::min(t.taken, now); });
}

void FaultTimes::started(const Run& run, Cycle now) {
  set(run, [&](Times& t) {
    t.taken = std::min(t.taken, now);
    t.started = now;
  });
}

void FaultTimes::arrived(const Run& run, Cycle now) {
  set(run, [&](Times& t) { t.arrived = now; });
}

void FaultTimes::dropped(TreeIndex tree, unsigned page) {
  if (tree >= open_.size() || !open_[tree].contains(page)) return;
  open_[tree].erase(page);
  times_.erase(page_key(tree, page));
}

void FaultTimes::replayed(TreeIndex tree, unsigned page, Cycle now, Counters& c) {
  if (tree >= open_.size() || !open_[tree].contains(page)) return;
  Times t = times_.find(page_key(tree, page))->second;
  dropped(tree, page);
  // What a page that was under way already has not gone through takes no time.
  t.arrived = std::max(t.raised, std::min(t.arrived, now));
  t.started = std::max(t.raised, std::min(t.started, t.arrived));
  t.taken = std::max(t.raised, std::min(t.taken, t.started));
  ++c.timed_faults;
  c.fault_detect_cycles += t.raised - t.asked;
  c.fault_queue_cycles += t.taken - t.raised;
  c.fault_service_cycles += t.started - t.taken;
  c.fault_transfer_cycles += t.arrived - t.started;
  c.fault_replay_cycles += now - t.arrived;
  const std::uint64_t us = (now - t.asked) * 1000 / khz_;
  const unsigned size = static_cast<unsigned>(std::bit_width(us));
  ++c.fault_latencies[std::min(size, kFaultLatencies - 1)];
}

}  // namespace lockstep::uvm
