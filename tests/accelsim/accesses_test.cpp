// Accesses by kind from a stream of accesses, each of which is counted twice: as Lockstep does, and by hand.
#include "accelsim/accesses.hpp"

#include <array>
#include <catch2/catch.hpp>

#include "tests/random.hpp"

namespace lockstep::accelsim {
namespace {

enum Outcome { kHit, kMerge, kFirstMiss, kOtherMiss };  // of one sector; kFirstMiss: of a line

void count(Accesses& a, Outcome outcome) {
  a.hits += outcome == kHit;
  a.merges += outcome == kMerge;
  a.misses += outcome == kFirstMiss || outcome == kOtherMiss;
  a.line_misses += outcome == kFirstMiss;
}

void book(stats::CacheCounters& c, bool read, Outcome outcome) {
  stats::book_lookup(c, read, outcome == kHit, outcome >= kFirstMiss, outcome == kMerge,
                     outcome == kOtherMiss);
}
/// An access to local memory, of which the cache has counters beside those for all.
void count_local(Accesses& a, stats::LocalCounters& c, bool read, Outcome outcome) {
  count(a, outcome);
  stats::book_local(c, read, outcome == kHit, outcome >= kFirstMiss, outcome == kMerge,
                    outcome == kOtherMiss);
}

void check_same(const Accesses& found, const Accesses& expected) {
  CHECK(found.hits == expected.hits);
  CHECK(found.merges == expected.merges);
  CHECK(found.misses == expected.misses);
  CHECK(found.line_misses == expected.line_misses);
}

/// Any outcome; stores of local memory and what bypasses the L1 do not merge.
Outcome any(test::Random32& random, bool merges = true) {
  const auto outcome = static_cast<Outcome>(random() % 4);
  return outcome == kMerge && !merges ? kHit : outcome;
}

}  // namespace

TEST_CASE("accesses of the L1: local memory and atomics are not among the global ones") {
  test::Random32 random(1);
  stats::KernelCounters c;
  Accesses reads, writes, of_local, into_local, atomics;
  for (unsigned i = 0; i < 5000; ++i) {
    const unsigned kind = random() % 5;
    const bool read = kind < 2;
    Outcome outcome = any(random, kind != 3);
    if (kind == 4) outcome = random() % 2 == 0 ? kFirstMiss : kOtherMiss;  // they never hit
    book(c.sm.l1, read, outcome);
    switch (kind) {
      case 0:
        count(reads, outcome);
        break;
      case 1:
        count_local(of_local, c.sm.l1_local, true, outcome);
        break;
      case 2:
        count(writes, outcome);
        break;
      case 3:
        count_local(into_local, c.sm.l1_local, false, outcome);
        break;
      default:
        count(atomics, outcome);
        ++c.sm.l1_atomic_sectors_sent;
        c.sm.l1_atomic_line_misses += outcome == kFirstMiss;
    }
  }
  check_same(l1_global_reads(c), reads);
  check_same(l1_global_writes(c), writes);
  check_same(local_reads(c.sm.l1_local), of_local);
  check_same(local_writes(c.sm.l1_local), into_local);
  check_same(l1_atomics(c), atomics);
  CHECK(reads.all() + writes.all() + of_local.all() + into_local.all() + atomics.all() == 5000);
}

TEST_CASE("accesses of the L2: atomics are reads there, fetches of code and constants neither") {
  test::Random32 random(2);
  stats::KernelCounters c;
  Accesses reads, writes, of_local, into_local, fetches, atomics;
  for (unsigned i = 0; i < 6000; ++i) {
    const unsigned kind = random() % 6;
    const Outcome outcome = any(random, kind != 4);
    book(c.mem.l2, kind < 3, outcome);
    switch (kind) {
      case 0:
        count(reads, outcome);
        break;
      case 1:
        count_local(of_local, c.mem.l2_local, true, outcome);
        break;
      case 2:
        count(fetches, outcome);
        ++c.mem.l2_fetches;
        c.mem.l2_fetch_hits += outcome == kHit;
        c.mem.l2_fetch_merges += outcome == kMerge;
        c.mem.l2_fetch_line_misses += outcome == kFirstMiss;
        break;
      case 3:
        count(writes, outcome);
        break;
      case 4:
        count_local(into_local, c.mem.l2_local, false, outcome);
        break;
      default:
        count(atomics, outcome);
        count(reads, outcome);
        ++c.mem.l2_atomics;
        c.mem.l2_atomic_hits += outcome == kHit;
        c.mem.l2_atomic_merges += outcome == kMerge;
        c.mem.l2_atomic_line_misses += outcome == kFirstMiss;
    }
  }
  check_same(l2_global_reads(c), reads);
  check_same(l2_global_writes(c), writes);
  check_same(l2_fetches(c), fetches);
  check_same(l2_atomics(c), atomics);
  check_same(local_reads(c.mem.l2_local), of_local);
  check_same(local_writes(c.mem.l2_local), into_local);
}

TEST_CASE("accesses: a line's first miss is a MISS, its others are SECTOR_MISSes") {
  Accesses a;
  for (const Outcome outcome : {kFirstMiss, kOtherMiss, kOtherMiss, kOtherMiss, kHit, kMerge})
    count(a, outcome);
  CHECK(a.all() == 6);
  CHECK(a.line_misses == 1);
  CHECK(a.sector_misses() == 3);
}

}  // namespace lockstep::accelsim
