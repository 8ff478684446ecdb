// The clocks of a program that are to show simulated time (preload/clock.hpp).
#pragma once

#include "cuda/preload/clock.hpp"

namespace lockstep::cuda {

/// The program's clocks show what its simulation says from here on. Does nothing where they show the host's.
void show_simulated_time();

/// As whom the calling thread reads clocks, in this scope. What it does there is no computation of the
/// program's (HostTime).
class ClockReader {
 public:
  explicit ClockReader(ClockScope scope);
  ~ClockReader();
  ClockReader(const ClockReader&) = delete;
  ClockReader& operator=(const ClockReader&) = delete;

 private:
  ClockScope before_;
};

}  // namespace lockstep::cuda
