// A GMMU whose state is kept amid faults, migrations, evictions and commands of the host, and restored into
// another one: both have the same replies at the same times.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "rig.hpp"
#include "tests/persisted.hpp"
#include "uvm/registry.hpp"

namespace lockstep::uvm {
namespace {

constexpr std::uint32_t kAskers = 4;
constexpr std::uint64_t kManagedBytes = 8 << 20, kFewFrames = 1200;  // of 2048 pages

/// Accesses, reports and commands that take about two million cycles.
void add_work(Rig& rig, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (unsigned i = 0; i < 600; ++i) {
    const Cycle when = below(2'000'000);
    const std::uint64_t page = below(4) == 0 ? below(2048) : (when / 8000 + below(64)) % 2048;
    rig.at(when, page, below(3) == 0, static_cast<std::uint32_t>(below(kAskers)));
    if (i % 4 == 0) rig.hit_at(when + below(50'000), page, below(2) == 0);
  }
  using Kind = ManagedCommand::Kind;
  constexpr Kind kKinds[] = {Kind::kPrefetch, Kind::kHostRead, Kind::kHostWrite, Kind::kDeviceWrite};
  for (unsigned i = 0; i < 12; ++i)
    rig.order_at(below(2'000'000), kKinds[i % 4], below(1800), 1 + below(200), Advice::kNone, i % 8 == 0);
  rig.order_at(1000, Kind::kAdvise, 100, 50, Advice::kSetReadMostly);
  rig.order_at(2000, Kind::kAdvise, 300, 50, Advice::kSetPreferredLocation, true);
}

/// What the outside has seen of a GMMU.
struct Seen {
  std::map<std::uint64_t, Cycle> replies, remote;
  std::map<std::uint32_t, Cycle> completed;
  std::uint64_t resident = 0, transfers = 0, faults = 0, evicted = 0;
  friend bool operator==(const Seen&, const Seen&) = default;
};
Seen seen_by(Rig& rig) {
  const Counters& c = rig.gmmu.counters();
  return {rig.answered, rig.mapped, rig.completed, rig.resident(), c.transfers, c.faults, c.write_backs};
}

/// `rest` goes on from where `first` is.
void hand_over(Rig& first, Rig& rest) {
  lockstep::test::restore(first.gmmu, rest.gmmu);
  rest.inputs = first.inputs;
  rest.lines = first.lines;
  rest.asked = first.asked;
  rest.answered = first.answered;
  rest.mapped = first.mapped;
  rest.orders = first.orders;
  rest.completed = first.completed;
  rest.tokens = first.tokens;
  rest.now = first.now;
}

/// Visits due cycles until `end`; false when nothing is due any more.
bool run_until(Rig& rig, Cycle end) {
  while (rig.now < end) {
    Cycle next = std::min(rig.gmmu.next(), rig.inputs.empty() ? kNever : rig.inputs.begin()->first);
    if (!rig.lines.empty()) next = rig.now + 1;
    if (next == kNever) return false;
    rig.now = std::max(rig.now + 1, next);
    rig.step();
  }
  return true;
}

void check_restored(const Parameters& p, std::uint32_t seed) {
  Rig straight(p, kManagedBytes, kFewFrames, kAskers);
  add_work(straight, seed);
  REQUIRE(straight.run());
  const Seen expected = seen_by(straight);
  CHECK(expected.transfers > 50);
  CHECK(expected.completed.size() == 14);
  auto rig = std::make_unique<Rig>(p, kManagedBytes, kFewFrames, kAskers);
  add_work(*rig, seed);
  for (Cycle end = 50'000; run_until(*rig, end); end = rig->now + 90'000) {
    auto fresh = std::make_unique<Rig>(p, kManagedBytes, kFewFrames, kAskers);
    hand_over(*rig, *fresh);
    rig = std::move(fresh);
  }
  CHECK(rig->gmmu.idle());
  CHECK(seen_by(*rig) == expected);
}

TEST_CASE("UVM checkpoint: UVMSmart's machine with each eviction policy") {
  for (std::size_t e = 0; e < evictors().size(); ++e) {
    CAPTURE(evictors()[e]->name);
    Parameters p = smart();
    p.whole_units = false;
    p.evictor = static_cast<std::uint8_t>(e);
    check_restored(p, 1);
  }
}

TEST_CASE("UVM checkpoint: the driver with each prefetcher and replay policy") {
  for (std::size_t f = 0; f < prefetchers().size(); ++f)
    for (const ReplayPolicy replay :
         {ReplayPolicy::kBlock, ReplayPolicy::kBatch, ReplayPolicy::kBatchFlush, ReplayPolicy::kOnce}) {
      CAPTURE(prefetchers()[f]->name, static_cast<int>(replay));
      Parameters p;
      p.prefetcher = p.prefetcher_oversubscribed = static_cast<std::uint8_t>(f);
      p.replay = replay;
      p.through_l2 = p.shares_link = false;
      check_restored(p, 2);
    }
}

TEST_CASE("UVM checkpoint: walkers, TLBs and remote access by packets") {
  for (const std::uint32_t walkers : {1u, 4u}) {
    Parameters p = smart();
    p.walkers = walkers;
    p.walk_levels = 4;
    p.walk_cache_entries = 8;
    p.walk_cache_latency = 10;
    p.l2_tlb_entries = 64;
    p.l2_tlb_ways = 4;
    p.merge_misses = true;
    p.remote_path = RemotePath::kLink;
    p.remote = 1;
    p.remote_threshold = 2;
    check_restored(p, 3 + walkers);
  }
}

TEST_CASE("UVM checkpoint: a state that ends early is refused, wherever it ends") {
  Rig rig(smart(), kManagedBytes, kFewFrames, kAskers);
  add_work(rig, 7);
  (void)run_until(rig, 300'000);
  const std::string bytes = lockstep::test::persisted(rig.gmmu);
  for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 50) {
    Rig fresh(smart(), kManagedBytes, kFewFrames, kAskers);
    const std::string cut = bytes.substr(0, size);
    Archive archive(cut);
    CHECK_THROWS_AS(archive(fresh.gmmu), ArchiveError);
  }
}

}  // namespace
}  // namespace lockstep::uvm
