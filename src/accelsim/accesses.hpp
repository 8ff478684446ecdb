// Cache accesses by kind, counted as Accel-Sim counts them.
#pragma once

#include <cstdint>

#include "stats/counters.hpp"

namespace lockstep::accelsim {

/// Accesses of one kind in Accel-Sim's words: the first sector that misses of a line is a MISS, any other one
/// a SECTOR_MISS.
struct Accesses {
  std::uint64_t hits = 0, merges = 0, misses = 0, line_misses = 0;
  [[nodiscard]] std::uint64_t all() const { return hits + merges + misses; }
  [[nodiscard]] std::uint64_t sector_misses() const { return misses - line_misses; }
};

[[nodiscard]] Accesses local_reads(const stats::LocalCounters& c);
[[nodiscard]] Accesses local_writes(const stats::LocalCounters& c);

/// Accel-Sim's atomics and reductions bypass the L1 and are reads of the L2. Lockstep counts them among the
/// writes of both, and they never hit in the L1.
[[nodiscard]] Accesses l1_atomics(const stats::KernelCounters& c);
[[nodiscard]] Accesses l2_atomics(const stats::KernelCounters& c);

/// Of instructions and constants.
[[nodiscard]] Accesses l2_fetches(const stats::KernelCounters& c);

/// Without local memory and, of the L1, without atomics.
[[nodiscard]] Accesses l1_global_reads(const stats::KernelCounters& c);
[[nodiscard]] Accesses l1_global_writes(const stats::KernelCounters& c);
[[nodiscard]] Accesses l2_global_reads(const stats::KernelCounters& c);
[[nodiscard]] Accesses l2_global_writes(const stats::KernelCounters& c);

}  // namespace lockstep::accelsim
