// Barriers of a warp's lanes and of its CTA. Internal to src/exec.
#pragma once

#include <cstdint>

#include "exec/warp_divergence.hpp"

namespace lockstep::exec {

/// Operations of the split that runs. False: none of its lanes are left to go on.
/// A lane kernel for the lanes of its member mask: when all of them have come.
[[nodiscard]] bool execute_lane_sync(WarpState& warp, Divergence& paths, const Operation& op,
                                     LaneMask active);
/// bar.warp.sync
[[nodiscard]] bool execute_warp_barrier(WarpState& warp, Divergence& paths, const Operation& op,
                                        LaneMask active);
/// An arrival at one of the CTA's barriers, which the CTA processes.
struct Arrival {
  std::uint32_t barrier = 0, threads = 0;  // threads 0: all of the CTA
  LaneMask lanes = 0, yes = 0;             // yes: whose predicate of bar.red is true
  bool waits = true;
};
/// bar.sync, bar.red, bar.arrive. `arrival`: the one that the CTA has to process next; without lanes there is
/// none.
[[nodiscard]] bool execute_barrier(WarpState& warp, Divergence& paths, const Operation& op, LaneMask active,
                                   Arrival& arrival);

/// Records it. `counted`: threads that it adds to those of the phase.
void note_arrival(WarpState& warp, Divergence& paths, const Operation& op, const Arrival& arrival,
                  std::uint32_t counted);

/// Splits that wait for each other, and have all come or exited, go on.
void settle_sync(WarpState& warp, Divergence& paths);

/// What bar.red of each kind gives.
struct Reduced {
  std::uint64_t all, any, count;
  std::uint64_t arrived;  // threads, from the CTA's start on
};
/// The CTA's barrier is complete: splits that wait at it go on.
void release_barrier(WarpState& warp, Divergence& paths, std::uint32_t barrier, const Reduced& reduced);
/// The record of all splits that wait at the barrier and owe it. Precondition: the warp is recorded.
/// `arrived`: as in Reduced; 0 before the barrier is complete, when counted ones cannot be recorded.
void note_barrier(WarpState& warp, Divergence& paths, std::uint32_t barrier, std::uint64_t arrived = 0);

}  // namespace lockstep::exec
