// Locked lines in the slices of an L2: they stay where others are replaced, until a core comes, and never
// take all places of a set.
#include <catch2/catch.hpp>

#include "bench.hpp"

namespace lockstep::mem_test {
namespace {

constexpr Address kWantedLine = 0x4000, kFar = Address{1} << 24;
constexpr std::uint32_t kMark = 77;

Request locking(Address line, icnt::LineLock lock) {
  Request r = lock == icnt::LineLock::kControl ? store(line, 0x1, {~0u, 0, 0, 0}) : load(line, 0x1);
  r.lock = lock;
  return r;
}

std::uint64_t l2_lines(const config::GpuConfig& c) {
  return std::uint64_t{c.l2.partitions} * c.l2.slices_per_partition * c.l2.slice_bytes / kLineBytes;
}

/// Loads of ten times what the L2 holds, from `at` on; the time at which all are surely answered.
Cycle sweep(Bench& bench, Cycle at) {
  const std::uint64_t lines = 10 * l2_lines(bench.config);
  for (std::uint64_t i = 0; i < lines; ++i)
    bench.requesters[1]->add(at, load(kFar + at * 0x10000 + i * kLineBytes));
  return at + 40 * lines;
}

/// Whether each of requester 0's loads with the mark missed.
std::vector<bool> misses(const Bench& bench) {
  std::vector<bool> all;
  for (const Received& r : bench.requesters[0]->received)
    if (r.reply.tag == kMark) all.push_back(r.reply.missed);
  return all;
}

mem::LineLockCounters locks(const Bench& bench) {
  mem::LineLockCounters all;
  for (const auto& partition : bench.partitions) all.add(partition->locks());
  return all;
}

}  // namespace

TEST_CASE("A locked line survives a sweep of ten times the L2, and is replaced again after a core's access") {
  for (const bool locked : {true, false}) {
    INFO(locked);
    Bench bench(small_config());
    Requester& sm = *bench.requesters[0];
    Request first = locking(kWantedLine, icnt::LineLock::kControl);
    if (!locked) first.lock = icnt::LineLock::kNone;
    sm.add(0, first);
    Cycle now = sweep(bench, 1000);
    sm.add(now, load(kWantedLine, 0x1, kMark));  // an SM's: does not unlock
    now = sweep(bench, now + 1000);
    sm.add(now, load(kWantedLine, 0x1, kMark));
    sm.add(now + 1000, locking(kWantedLine, icnt::LineLock::kCore));
    now = sweep(bench, now + 2000);
    sm.add(now, load(kWantedLine, 0x1, kMark));
    (void)bench.run();
    REQUIRE(bench.quiescent());
    CHECK(misses(bench) == (locked ? std::vector{false, false, true} : std::vector{true, true, true}));
    CHECK(locks(bench).unlocked == (locked ? 1 : 0));
  }
}

TEST_CASE("Locks leave two places of each set: others go on, and a store beyond locks nothing") {
  const config::GpuConfig config = small_config();
  Bench bench(config);
  const std::uint64_t lines = 4 * l2_lines(config), sets = l2_lines(config) / config.l2.ways;
  for (std::uint64_t i = 0; i < lines; ++i)
    bench.requesters[0]->add(0, locking(kWantedLine + i * kLineBytes, icnt::LineLock::kControl));
  const Cycle now = sweep(bench, 40 * lines);
  bench.requesters[0]->add(now, load(kWantedLine, 0x1, kMark));
  (void)bench.run();
  REQUIRE(bench.quiescent());
  CHECK(locks(bench).control == sets * (config.l2.ways - 2));
  CHECK(locks(bench).degraded == lines - locks(bench).control);
  CHECK(misses(bench) == std::vector{false});  // one of the first, which are locked
}

}  // namespace lockstep::mem_test
