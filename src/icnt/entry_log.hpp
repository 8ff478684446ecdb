// What becomes of entries of network queues outside of the agent that serves them: whoever writes, holds or
// polls one notes when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "icnt/messages.hpp"
#include "util/types.hpp"

namespace lockstep::icnt {

/// The entry that a store lies in; one line has two.
[[nodiscard]] constexpr Address entry_of(const Request& store) {
  constexpr SectorMask kFirstHalf = 0x3;
  return store.line + ((store.sectors & kFirstHalf) != 0 ? 0 : kLineBytes / 2);
}

/// The status word of an entry has become visible to its agent. Times here are cycles of the noting domain.
struct EntryTime {
  Address entry = 0;
  Cycle at = 0;
};

/// An SM's notes.
class EntryLog {
 public:
  struct Written {
    Address entry = 0;
    Cycle begun = 0, written = 0;  // its first store leaves the SM, that of its status word does
  };
  struct Found {
    Address entry = 0;
    std::uint32_t signals = 0;  // of its status word, that were awaited
    Cycle at = 0;
  };

  /// A kernel's store to an entry leaves the SM. `status`: to its status word, which is the entry's last.
  void store(Cycle now, Address entry, bool status) {
    const auto open = std::ranges::find(open_, entry, &EntryTime::entry);
    if (!status) {
      if (open == open_.end()) open_.push_back({entry, now});
      return;
    }
    written_.push_back({entry, open == open_.end() ? now : open->at, now});
    if (open == open_.end()) return;
    *open = open_.back();
    open_.pop_back();
  }
  /// A warp that has waited for the status word of an entry goes on.
  void find(Cycle now, Address entry, std::uint32_t signals) { found_.push_back({entry, signals, now}); }

  [[nodiscard]] const std::vector<Written>& written() const { return written_; }
  [[nodiscard]] const std::vector<Found>& found() const { return found_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, open_, written_, found_);
  }

 private:
  std::vector<EntryTime> open_;  // whose status is not written yet: at most one for each work-group
  std::vector<Written> written_;
  std::vector<Found> found_;
};

}  // namespace lockstep::icnt
