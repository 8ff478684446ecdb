#include "accelsim/accesses.hpp"

namespace lockstep::accelsim {
namespace {

Accesses operator-(const Accesses& a, const Accesses& b) {
  return {a.hits - b.hits, a.merges - b.merges, a.misses - b.misses, a.line_misses - b.line_misses};
}
Accesses operator+(const Accesses& a, const Accesses& b) {
  return {a.hits + b.hits, a.merges + b.merges, a.misses + b.misses, a.line_misses + b.line_misses};
}

/// For a cache that merges reads and writes: those of sectors_read that neither hit nor missed were merged.
Accesses reads(const stats::CacheCounters& c) {
  return {c.read_hits, c.sectors_read - c.read_hits - c.read_misses, c.read_misses, c.read_line_misses};
}
Accesses writes(const stats::CacheCounters& c) {
  return {c.write_hits, c.sectors_written - c.write_hits - c.write_misses, c.write_misses,
          c.write_line_misses};
}

}  // namespace

Accesses local_reads(const stats::LocalCounters& c) {
  return {c.read_hits, c.read_merges, c.read_misses, c.read_line_misses};
}
Accesses local_writes(const stats::LocalCounters& c) {
  return {c.write_hits, 0, c.write_misses, c.write_line_misses};
}

Accesses l1_atomics(const stats::KernelCounters& c) {
  const stats::SmCounters& sm = c.sm;
  return {0, 0, sm.l1_atomic_sectors_sent, sm.l1_atomic_line_misses};
}
Accesses l2_atomics(const stats::KernelCounters& c) {
  const stats::PartitionCounters& m = c.mem;
  return {m.l2_atomic_hits, m.l2_atomic_merges, m.l2_atomics - m.l2_atomic_hits - m.l2_atomic_merges,
          m.l2_atomic_line_misses};
}
Accesses l2_fetches(const stats::KernelCounters& c) {
  const stats::PartitionCounters& m = c.mem;
  return {m.l2_fetch_hits, m.l2_fetch_merges, m.l2_fetches - m.l2_fetch_hits - m.l2_fetch_merges,
          m.l2_fetch_line_misses};
}

Accesses l1_global_reads(const stats::KernelCounters& c) {
  return reads(c.sm.l1) - local_reads(c.sm.l1_local);
}
Accesses l1_global_writes(const stats::KernelCounters& c) {
  return writes(c.sm.l1) - l1_atomics(c) - local_writes(c.sm.l1_local);
}
Accesses l2_global_reads(const stats::KernelCounters& c) {
  return reads(c.mem.l2) - l2_fetches(c) - local_reads(c.mem.l2_local) + l2_atomics(c);
}
Accesses l2_global_writes(const stats::KernelCounters& c) {
  return writes(c.mem.l2) - l2_atomics(c) - local_writes(c.mem.l2_local);
}

}  // namespace lockstep::accelsim
