// What liblockstep_clock.so and the runtime in a program say to each other. The library is loaded where the
// program's clocks are to show simulated time; the runtime looks its functions up by name:
//   void lockstep_clock_source(ClockSource)      asks for the time from here on; before, it is 0
//   ClockScope lockstep_clock_scope(ClockScope)  of the calling thread; returns the one before
#pragma once

#include <cstdint>

namespace lockstep::cuda {

/// Nanoseconds of simulated time since the program's start.
using ClockSource = std::uint64_t (*)();

/// The reader of the clock.
enum class ClockScope : std::uint8_t {
  kProgram,   // sees simulated time
  kRuntime,   // ours, sees the host's
  kCallback,  // the program within a call of ours: sees the simulated time last known
};

inline constexpr const char* kClockSourceName = "lockstep_clock_source";
inline constexpr const char* kClockScopeName = "lockstep_clock_scope";

}  // namespace lockstep::cuda
