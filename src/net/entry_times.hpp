// What happens to entries of queues before an agent sees them, and after it has finished them.
#pragma once

#include <cstdint>
#include <vector>

#include "icnt/entry_log.hpp"
#include "net/clock.hpp"
#include "net/thread_counters.hpp"
#include "util/types.hpp"

namespace lockstep::net {

/// Collected at the end of a run from the notes of those who write entries, hold and poll them; entry k of a
/// place is then the k-th in each. All in ps from the beginning of the simulation.
class EntryTimes {
 public:
  /// Around what an agent does. They are in order with its moments: what one domain notes may lie a fraction
  /// of a cycle after what another does with it, which is left out.
  struct Around {
    std::uint64_t begun = 0;     // the kernel's first store to the entry leaves its SM
    std::uint64_t written = 0;   // that of the status word does
    std::uint64_t visible = 0;   // that is where the agent sees it
    std::uint64_t returned = 0;  // of a blocking one: the work-group has read that it is finished
  };

  void add(const icnt::EntryLog& sm, const Clock& clock);
  void add_visible(const std::vector<icnt::EntryTime>& of, const Clock& clock);
  /// After the last add().
  void sort();
  /// What was not noted takes no time.
  [[nodiscard]] Around around(const EndedEntry& ended) const;

 private:
  struct Written {
    Address entry = 0;
    std::uint64_t begun = 0, written = 0;
    [[nodiscard]] auto operator<=>(const Written&) const = default;
  };
  struct Visible {
    Address entry = 0;
    std::uint64_t at = 0;
    [[nodiscard]] auto operator<=>(const Visible&) const = default;
  };
  struct Found {
    Address entry = 0;
    std::uint32_t signals = 0;
    std::uint64_t at = 0;
    [[nodiscard]] auto operator<=>(const Found&) const = default;
  };
  std::vector<Written> written_;
  std::vector<Visible> visible_;
  std::vector<Found> found_;
};

/// Sums over the operations of one kind, of their stages around an agent's (StageTimes).
struct AroundTimes {
  std::uint64_t written = 0, visible = 0, seen = 0, returned = 0;
  std::uint64_t most_written = 0, most_visible = 0, most_seen = 0, most_returned = 0;
  std::uint64_t longest = 0;  // from begun to returned, or to the agent's last moment

  void add(const EntryTimes::Around& times, const EndedEntry& ended);
};

}  // namespace lockstep::net
