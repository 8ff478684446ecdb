// Records of a device's managed memory: counters, times of faults, events of the timeline.
#pragma once

#include <cstdint>
#include <vector>

#include "uvm/counters.hpp"
#include "uvm/event.hpp"
#include "uvm/fault_times.hpp"
#include "uvm/page_table.hpp"
#include "uvm/transfer.hpp"

namespace lockstep::uvm {

class MigrationLog {
 public:
  MigrationLog(std::uint64_t core_khz, const PageTable& table)
      : fault_times(core_khz), table_(&table), by_allocation_(table.space().allocations().size()) {}

  Counters counters;
  FaultTimes fault_times;

  /// The address space has grown.
  void grow() { by_allocation_.resize(table_->space().allocations().size()); }
  /// The counters of the allocation that the run belongs to.
  [[nodiscard]] AllocationCounters& of(const Run& run) {
    return by_allocation_[table_->space().owner((*table_)[run.tree].id)];
  }
  /// In the order of the address space's allocations.
  [[nodiscard]] const std::vector<AllocationCounters>& by_allocation() const { return by_allocation_; }

  /// From now on events are appended there; null: they are not kept.
  void record(std::vector<Event>* events) { events_ = events; }
  void note(Event::Kind kind, Cycle start, Cycle end, const Run& run) {
    if (events_) events_->push_back({kind, start, end, run});
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, counters, fault_times, a.given(table_), by_allocation_, a.given(events_));
  }

 private:
  const PageTable* table_;
  std::vector<AllocationCounters> by_allocation_;
  std::vector<Event>* events_ = nullptr;
};

}  // namespace lockstep::uvm
