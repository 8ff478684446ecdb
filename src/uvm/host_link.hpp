// Who may use the link between a device and its host.
#pragma once

#include <cstdint>
#include <utility>

#include "util/types.hpp"
#include "uvm/link.hpp"

namespace lockstep::uvm {

/// The arbiter of both directions of the host link, between copies and migrations. A direction has one user
/// at a time. A migration holds it to its end. A copy holds it page by page: if a migration is waiting at the
/// border between two pages, one migration goes first; otherwise copies have priority. (Packets of remote
/// accesses are sent between those of migrations, which end later as a result: RemotePort,
/// DeviceMemory::delay.)
///
/// Both sides report what they do; of the other they see only the last report and the last decide().
class HostLink {
 public:
  // Copies.
  struct Copies {
    bool busy = false, waiting = false;  // one has begun; one waits behind it
    Cycle free_at = 0;                   // busy: the link is free then; kNever while lines are left
  };
  void say(Direction direction, const Copies& copies) { way(direction).copies = copies; }
  /// Whether no page may begin now.
  [[nodiscard]] bool copy_must_wait(Direction direction) const {
    const Way& w = ways_[static_cast<unsigned>(direction)];
    return w.taken || (w.yielded && w.wanted && w.begun < w.until);
  }
  /// A copy has reached the border between two pages.
  void at_border(Direction direction) {
    Way& w = way(direction);
    if (!w.wanted || w.yielded) return;
    w.yielded = true;
    w.until = w.begun + 1;
  }
  void page_begins(Direction direction) { way(direction).yielded = false; }

  // Migrations.
  struct Migrations {
    bool on_link = false, wanted = false;  // one that began at `start`; one would begin if the link were free
    Cycle start = 0;
  };
  void say(Direction direction, const Migrations& migrations) {
    Way& w = way(direction);
    if (migrations.on_link && migrations.start != w.last_start) {
      ++w.begun;
      w.last_start = migrations.start;
    }
    w.taken = migrations.on_link;
    w.wanted = migrations.wanted;
  }
  [[nodiscard]] bool migration_may_begin(Direction direction) const {
    return !ways_[static_cast<unsigned>(direction)].held;
  }

  /// Decides whether copies have the link, or are next; true if that has changed.
  bool decide(Direction direction, Cycle now) {
    Way& w = way(direction);
    const bool held = !w.copies.busy ? w.copies.waiting
                      : w.yielded    ? w.begun >= w.until
                                     : w.copies.free_at > now;
    return std::exchange(w.held, held) != held;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, ways_);
  }

 private:
  struct Way {
    Copies copies;
    bool held = false;                   // by copies
    bool taken = false, wanted = false;  // by migrations
    Cycle last_start = kNever;           // of a migration
    bool yielded = false;                // a copy lets one migration go first
    std::uint64_t begun = 0, until = 0;  // migrations that have begun; yielded: until that many have
  };
  [[nodiscard]] Way& way(Direction direction) { return ways_[static_cast<unsigned>(direction)]; }

  Way ways_[2];
};

}  // namespace lockstep::uvm
