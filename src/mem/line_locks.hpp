// Which lines of an L2 slice are locked, and for whom (LeBeane et al., "ComP-Net", PACT 2018, section 4).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "icnt/messages.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

/// Counted by a slice. Times are in edges of its clock.
struct LineLockCounters {
  static constexpr std::size_t kBuckets = 24;
  std::uint64_t control = 0;   // lines locked by stores
  std::uint64_t degraded = 0;  // stores that would have locked one, but too many of its set were
  std::uint64_t updates = 0;   // read-modify-writes of cores
  std::uint64_t held = 0;      // accesses that waited for one
  std::uint64_t most = 0;      // lines locked at a time
  std::uint64_t unlocked = 0, time = 0, longest = 0;  // of those locked by stores, from store to core
  std::array<std::uint64_t, kBuckets> times{};        // bucket b: from 2^b, or 0, to less than 2^(b + 1)

  /// Sums those of several slices; `most` is that of the slice with the most.
  void add(const LineLockCounters& c) {
    control += c.control;
    degraded += c.degraded;
    updates += c.updates;
    held += c.held;
    unlocked += c.unlocked;
    time += c.time;
    most = std::max(most, c.most);
    longest = std::max(longest, c.longest);
    for (std::size_t b = 0; b < kBuckets; ++b) times[b] += c.times[b];
  }
};

/// The slice has one locked line more (by = 1) or fewer (-1), from edge `at` of its clock on.
struct LockChange {
  Cycle at = 0;
  int by = 0;
  template <class A>
  void persist(A& a) {
    a.members(*this, at, by);
  }
};

/// The most lines that were locked at a time, at the end of an edge: the changes are those of several slices.
[[nodiscard]] inline std::uint64_t most_locked(std::vector<LockChange> changes) {
  std::ranges::sort(changes, {}, &LockChange::at);
  std::int64_t locked = 0, most = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    locked += changes[i].by;
    if (i + 1 == changes.size() || changes[i + 1].at != changes[i].at) most = std::max(most, locked);
  }
  return static_cast<std::uint64_t>(most);
}

/// A line is unlocked, locked by a store of a kernel (control) or by the read of a core's read-modify-write
/// (update). A locked line stays in the slice. Accesses of others to a line with an update wait for its
/// write; a line that is locked by a store may be accessed by all, or where such locks are exclusive only by
/// cores and stores that lock, and is unlocked by the first access of a core. A store to a line that is
/// locked already does not change its lock.
class LineLocks {
 public:
  enum class Change : std::uint8_t { kNone, kLocked, kUnlocked };

  [[nodiscard]] bool any() const { return !lines_.empty(); }
  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  [[nodiscard]] bool locked(Address line) const { return find(line) != lines_.end(); }
  /// Whether the request must wait. `exclusive`: locks by stores are.
  [[nodiscard]] bool blocks(const icnt::Request& r, bool exclusive = false) const {
    const auto lock = find(r.line);
    if (lock == lines_.end()) return false;
    return lock->update ? lock->owner != r.reply_to : exclusive && !passes_exclusive(r);
  }
  /// Whether a request that arrives must wait. `behind`: others wait for its line. Who unlocks a line that is
  /// a core's alone never stands behind those that wait for that.
  [[nodiscard]] bool must_wait(const icnt::Request& r, bool exclusive, bool behind) const {
    if (blocks(r, exclusive)) return true;
    if (!behind || r.lock == icnt::LineLock::kEnd) return false;
    const auto lock = find(r.line);
    const bool alone = exclusive && lock != lines_.end() && !lock->update;
    return !alone || !passes_exclusive(r);
  }
  /// Since when the line has been locked that has been for longest; kNever.
  [[nodiscard]] Cycle oldest() const {
    Cycle since = kNever;
    for (const Line& line : lines_) since = std::min(since, line.since);
    return since;
  }
  /// Whether serve() may have something to do: most requests neither lock nor unlock lines.
  [[nodiscard]] bool may_change(const icnt::Request& r) const { return r.lock != icnt::LineLock::kNone; }
  /// The request has been served; precondition: not blocks(). Whether its line is now locked or unlocked,
  /// which it was not before. `may_lock`: fewer than the most lines of its set are locked.
  Change serve(const icnt::Request& r, Cycle now, bool may_lock) {
    using Lock = icnt::LineLock;
    const auto lock = find(r.line);
    const bool there = lock != lines_.end();
    if (r.lock == Lock::kControl) return there ? Change::kNone : lock_by_store(r, now, may_lock);
    if (r.lock == Lock::kNone || (!there && r.lock != Lock::kBegin)) return Change::kNone;
    if (there && !lock->update) end_control(*lock, now);
    if (r.lock == Lock::kBegin) {
      ++counters_.updates;
      if (there) {
        *lock = {r.line, now, r.reply_to, true};
        return Change::kNone;
      }
      return add({r.line, now, r.reply_to, true});
    }
    if (lock->update && r.lock != Lock::kEnd) return Change::kNone;  // its owner's
    lines_.erase(lock);
    changes_.push_back({now, -1});
    return Change::kUnlocked;
  }
  void count_held() { ++counters_.held; }

  struct Line {
    Address line = 0;
    Cycle since = 0;
    std::uint16_t owner = 0;
    bool update = false;
  };
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }
  [[nodiscard]] const LineLockCounters& counters() const { return counters_; }
  /// In the order of time, since the beginning of the run.
  [[nodiscard]] const std::vector<LockChange>& changes() const { return changes_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, lines_, changes_, counters_);
  }

 private:
  /// Of a core, or a store that locks. A core's watch is no access, but wakes it.
  [[nodiscard]] static bool passes_exclusive(const icnt::Request& r) {
    return r.lock != icnt::LineLock::kNone || (r.kind == icnt::AccessKind::kAwait && r.is_watch());
  }
  [[nodiscard]] std::vector<Line>::const_iterator find(Address line) const {
    return std::ranges::find(lines_, line, &Line::line);
  }
  [[nodiscard]] std::vector<Line>::iterator find(Address line) {
    return std::ranges::find(lines_, line, &Line::line);
  }
  Change add(const Line& line) {
    lines_.push_back(line);
    changes_.push_back({line.since, 1});
    counters_.most = std::max<std::uint64_t>(counters_.most, lines_.size());
    return Change::kLocked;
  }
  Change lock_by_store(const icnt::Request& r, Cycle now, bool may_lock) {
    ++(may_lock ? counters_.control : counters_.degraded);
    return may_lock ? add({r.line, now, 0, false}) : Change::kNone;
  }
  void end_control(const Line& line, Cycle now) {
    const Cycle time = now - line.since;
    ++counters_.unlocked;
    counters_.time += time;
    counters_.longest = std::max<std::uint64_t>(counters_.longest, time);
    const auto bucket = static_cast<std::size_t>(std::bit_width(time | 1) - 1);
    ++counters_.times[std::min(bucket, LineLockCounters::kBuckets - 1)];
  }

  std::vector<Line> lines_;  // few: those whose entry no core has seen yet
  std::vector<LockChange> changes_;
  LineLockCounters counters_;
};

}  // namespace lockstep::mem
