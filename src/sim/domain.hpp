// The unit of parallelism: a piece of hardware that owns its state.
#pragma once

#include <string>

#include "util/types.hpp"

namespace lockstep::sim {

/// Exactly one thread advances a domain at a time, and it touches only the domain's own state and its own
/// sides of channels. Inside: no atomics, locks, thread ids, random numbers, wall time, or iteration in the
/// order of addresses or hashes. What a domain does in [from, to) may not depend on where windows begin and
/// end.
class Domain {
 public:
  virtual ~Domain() = default;

  /// Brings the state from cycle `from` of the domain's clock to `to`: takes the mail of its inboxes first,
  /// then does every change due in [from, to). Between `from` and the `to` of the call before nothing was
  /// due. The two are equal where a window holds no edge of that clock. Returns the earliest cycle >= `to` at
  /// which something is due without further mail, or kNever.
  [[nodiscard]] virtual Cycle advance(Cycle from, Cycle to) = 0;

  /// Brings counters that are kept in bulk (stalls, residency) up to cycle `at`, where nothing is due.
  virtual void settle(Cycle at) = 0;

  /// Appends what it waits for, for the dump after a deadlock.
  virtual void dump(std::string& out) const = 0;
};

}  // namespace lockstep::sim
