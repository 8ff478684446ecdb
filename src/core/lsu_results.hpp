// Results of memory operations: those whose time is known, and those that wait for sectors from beyond the
// SM.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <vector>

#include "core/lsu_access.hpp"
#include "core/lsu_latencies.hpp"
#include "core/lsu_operation.hpp"
#include "core/lsu_pending.hpp"
#include "core/lsu_wheel.hpp"

namespace lockstep::core {

/// The only way to the events of a cycle. An operation has an entry of the pending table from the first
/// sector that it asks for until the last one is back and its last line has been looked up; then its
/// acknowledgement is due, or its result at the time that the L1 or the last sector sets, whichever is later.
class LsuResults {
 public:
  /// `entries`: of the pending table.
  LsuResults(std::uint32_t entries, const LsuLatencies& latencies)
      : miss_rest_(LsuLatencies::kMissPath + latencies.hit_rest),
        wheel_(latencies.longest),
        pending_(entries) {
    events_.reserve(64);
  }

  // Events of the cycle.
  void begin_cycle() { events_.clear(); }
  void emit(MioEvent::Kind kind, std::uint32_t handle) { events_.push_back({kind, handle}); }
  [[nodiscard]] const std::vector<MioEvent>& events() const { return events_; }

  // Results whose time is known.
  void add(Cycle now, Cycle due, std::uint32_t handle) { wheel_.add(now, due, handle); }
  /// Emits those that are due.
  void deliver(Cycle now) {
    wheel_.drain(now, [&](std::uint32_t handle) { emit(MioEvent::Kind::kResult, handle); });
  }
  [[nodiscard]] Cycle next_due() const { return wheel_.next(); }

  // Results that wait for sectors.
  /// The operation has an entry, or one is free for it.
  [[nodiscard]] bool has_room(const LsuAccess& access) const {
    return access.entry != LsuPending::kNone || !pending_.full();
  }
  /// Gives it an entry unless it has one. Precondition: has_room().
  void take_entry(LsuAccess& access) {
    if (access.entry != LsuPending::kNone) return;
    access.entry = pending_.take();
    const auto after = static_cast<std::uint16_t>(miss_rest_ + access.extra + access.transfer);
    pending_[access.entry] = {0, access.handle, 0, after, is_acknowledged(access.kind), true};
  }
  /// The operation waits for this many more sectors.
  void await(std::uint16_t entry, unsigned sectors) { pending_[entry].sectors += sectors; }
  /// Some are back, or acknowledged.
  void sectors_back(Cycle now, std::uint16_t index, unsigned sectors) {
    LsuPending::Entry& entry = take_off(index, sectors);
    if (entry.sectors > 0) return;
    entry.ready = std::max(entry.ready, now + entry.after);
    if (!entry.issuing) finish(now, index);
  }
  /// A line that was counted as outstanding has been looked up: from now on only the sectors that it misses
  /// count. The result does not come before `ready`.
  void line_resolved(Cycle now, std::uint16_t index, unsigned sectors, Cycle ready) {
    LsuPending::Entry& entry = take_off(index, sectors);
    entry.ready = std::max(entry.ready, ready);
    if (entry.sectors == 0 && !entry.issuing) finish(now, index);
  }
  /// The operation's last line has left the tag stage; the result does not come before `ready`.
  void all_issued(Cycle now, const LsuAccess& access, Cycle ready) {
    if (access.entry == LsuPending::kNone) return add(now, ready, access.handle);
    LsuPending::Entry& entry = pending_[access.entry];
    entry.issuing = false;
    entry.ready = std::max(entry.ready, ready);
    if (entry.sectors == 0) finish(now, access.entry);
  }

  [[nodiscard]] bool idle() const { return wheel_.size() == 0 && pending_.used() == 0; }
  [[nodiscard]] std::size_t under_way() const { return wheel_.size(); }
  [[nodiscard]] std::size_t pending() const { return pending_.used(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(miss_rest_), wheel_, pending_, events_);
  }

 private:
  [[nodiscard]] LsuPending::Entry& take_off(std::uint16_t index, unsigned sectors) {
    LsuPending::Entry& entry = pending_[index];
    assert(entry.sectors >= sectors);
    entry.sectors -= sectors;
    return entry;
  }
  void finish(Cycle now, std::uint16_t index) {
    const LsuPending::Entry& entry = pending_[index];
    if (entry.store) {
      emit(MioEvent::Kind::kAcknowledged, entry.handle);
    } else {
      add(now, std::max(now, entry.ready), entry.handle);
    }
    pending_.release(index);
  }

  Cycle miss_rest_;  // from the last sector's arrival to the result
  LsuWheel wheel_;
  LsuPending pending_;
  std::vector<MioEvent> events_;
};

}  // namespace lockstep::core
