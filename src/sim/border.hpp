// Where a simulation that runs in several processes meets the others.
#pragma once

#include <vector>

#include "sim/clock.hpp"

namespace lockstep::sim {

/// Some domains of the engine are those of other processes: here they do nothing, and have the same ids. All
/// calls are serial. `next`: by domain, when it is due.
class Border {
 public:
  virtual ~Border() = default;
  /// A window has ended, and its mail may be read.
  virtual void window_ended(std::vector<Time>& next) = 0;
  /// All domains stand at `now`, up to which everything that others have sent is known. Takes in what has
  /// come since, and returns up to when all will be known then: later than `now`, kNever when all processes
  /// are still. It waits for the other processes, which all meet at the same times.
  [[nodiscard]] virtual Time meet(Time now, std::vector<Time>& next) = 0;
};

}  // namespace lockstep::sim
