#include "mem/lookup_count.hpp"

#include "util/bits.hpp"

namespace lockstep::mem {

void count_lookup(stats::PartitionCounters& c, const icnt::Request& r, bool counts_request, const Lookup& l) {
  const std::uint32_t hit = bit_count(l.hit), merged = bit_count(l.merged), missed = bit_count(l.missed);
  const std::uint32_t all = hit + merged + missed;
  const bool line_miss = missed != 0 && !l.line_there;
  const bool writes = icnt::carries_data(r.kind);
  stats::book_lookup(c.l2, !writes, hit, missed, merged, l.line_there);
  if (r.local) stats::book_local(c.l2_local, !writes, hit, missed, merged, l.line_there);
  if (writes && !icnt::is_store(r.kind)) {
    c.l2_atomics += all;
    c.l2_atomic_hits += hit;
    c.l2_atomic_merges += merged;
    c.l2_atomic_line_misses += line_miss;
  }
  if (is_fetch(r.kind)) {
    c.l2_fetches += all;
    c.l2_fetch_hits += hit;
    c.l2_fetch_merges += merged;
    c.l2_fetch_line_misses += line_miss;
  }
  if (counts_request) ++c.l2.requests;
}

}  // namespace lockstep::mem
