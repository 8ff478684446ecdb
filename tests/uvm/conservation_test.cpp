// What random accesses and orders of the host do, recounted from the events of the timeline: every policy,
// both fault modes, memory from a fraction of what is used to more than that.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "rig.hpp"

namespace lockstep::uvm {
namespace {

using PageId = std::pair<TreeIndex, unsigned>;

/// Pages on the device, by the events alone.
struct Recount {
  std::set<PageId> here;
  std::uint64_t arrived = 0, left = 0, written = 0, transfers = 0, write_backs = 0, drops = 0, faults = 0;
  std::array<std::uint64_t, kTransferSizes> sizes{};

  explicit Recount(const std::vector<Event>& events) {
    for (const Event& e : events) take(e);
  }
  void take(const Event& e) {
    switch (e.kind) {
      case Event::Kind::kTransfer:
      case Event::Kind::kPrefetch: {
        ++transfers;
        unsigned size = 0;  // 4 KiB, doubled until the transfer fits
        while (size + 1 < kTransferSizes && e.run.pages > 1u << size) ++size;
        ++sizes[size];
        arrived += e.run.pages;
        for_each(e.run, [&](PageId page) { REQUIRE(here.insert(page).second); });
        break;
      }
      case Event::Kind::kWriteBack:
        ++write_backs;
        written += e.run.pages;
        leave(e.run);
        break;
      case Event::Kind::kDrop:
        ++drops;
        leave(e.run);
        break;
      case Event::Kind::kFault:
        faults += e.run.pages;
        break;
      default:
        break;
    }
  }
  template <class F>
  static void for_each(const Run& run, F&& f) {
    for (unsigned p = run.first; p < run.first + run.pages; ++p) f(PageId{run.tree, p});
  }
  void leave(const Run& run) {
    left += run.pages;
    for_each(run, [&](PageId page) { REQUIRE(here.erase(page) == 1); });
  }
};

struct Case {
  Parameters p;
  std::uint64_t frames;
  bool chunks;
};

Case case_of(unsigned round) {
  Case c{round % 2 ? smart() : Parameters{}, 0, false};
  c.p.prefetcher = c.p.prefetcher_oversubscribed = static_cast<std::uint8_t>(round % prefetchers().size());
  c.p.evictor = static_cast<std::uint8_t>(round / 2 % evictors().size());
  c.p.early_reuse = round % 4 == 1;
  c.p.whole_units = round % 3 == 0;
  c.p.clean_drop = round % 5 == 0   ? CleanDrop::kClean
                   : round % 5 == 1 ? CleanDrop::kReadOnlyTrees
                                    : CleanDrop::kNever;
  c.p.free_buffer_percent = round % 7 == 0 ? 10 : 0;
  c.p.replay = static_cast<ReplayPolicy>(round % 4);
  c.p.thrashing = round % 6 == 0;
  c.p.thrashing_lapse_ns = 100000;
  static constexpr std::uint64_t kFrames[] = {40, 130, 520, 700, 1100, 4000};
  c.frames = kFrames[round / 3 % 6];
  c.chunks = c.p.fault_mode == FaultMode::kDriver && evictors()[c.p.evictor] == &kDriverChunk &&
             c.frames >= kPagesPerTree;
  return c;
}

constexpr std::uint64_t kFirst = 1300 * kPageBytes, kSecond = 200 * kPageBytes;  // one tree is not whole

unsigned drive(Rig& rig, std::mt19937& random, bool orders) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const unsigned all = 1480;
  unsigned given = 0;
  for (int burst = 0; burst < 12; ++burst) {
    const unsigned when = 2 + below(60000), where = below(all - 150);
    for (unsigned i = 5 + below(30); i > 0; --i)
      (void)rig.at(when + below(2000), where + below(150), below(3) == 0, below(3));
  }
  constexpr ManagedCommand::Kind kKinds[] = {
      ManagedCommand::Kind::kPrefetch,   ManagedCommand::Kind::kHostRead,    ManagedCommand::Kind::kHostWrite,
      ManagedCommand::Kind::kDeviceRead, ManagedCommand::Kind::kDeviceWrite, ManagedCommand::Kind::kRelease};
  for (; orders && given < 14; ++given) {
    const auto kind = kKinds[below(6)];
    const bool host = kind == ManagedCommand::Kind::kPrefetch && below(3) == 0;
    (void)rig.order_at(2 + below(70000), kind, below(all - 300), 1 + below(300), Advice::kNone, host);
  }
  return given;
}

void check_counters(Rig& rig, const Recount& recount, const Case& c) {
  const Counters& n = rig.gmmu.counters();
  CHECK(n.transfers == recount.transfers);
  CHECK(n.bytes_to_device == recount.arrived * kPageBytes);
  CHECK(n.transfer_sizes == recount.sizes);
  CHECK(n.write_backs == recount.write_backs);
  CHECK(n.bytes_to_host == recount.written * kPageBytes);
  CHECK(n.evicted_dirty_pages + n.evicted_clean_pages <= recount.left);
  CHECK(n.prefetched_used <= n.prefetched_pages);
  CHECK(n.peak_resident_pages <= c.frames);
  CHECK(n.peak_resident_pages >= recount.here.size());
  CHECK(n.evictions >= n.forced_evictions);
  CHECK(n.thrashed_pages <= recount.arrived);
  CHECK(n.batch_entries <= n.buffer_entries);
  CHECK(std::accumulate(n.fault_latencies.begin(), n.fault_latencies.end(), std::uint64_t{0}) ==
        n.timed_faults);
  CHECK(n.page_hits + n.page_misses >= rig.answered.size());
  AllocationCounters sum;
  for (const AllocationCounters& a : rig.gmmu.memory().log().by_allocation()) {
    sum.transfers += a.transfers, sum.write_backs += a.write_backs;
    sum.bytes_to_device += a.bytes_to_device, sum.bytes_to_host += a.bytes_to_host;
    sum.faulted_pages += a.faulted_pages;
  }
  CHECK(sum.transfers == n.transfers);
  CHECK(sum.write_backs == n.write_backs);
  CHECK(sum.bytes_to_device == n.bytes_to_device);
  CHECK(sum.bytes_to_host == n.bytes_to_host);
  CHECK(sum.faulted_pages + n.prefetched_pages + n.user_prefetched_pages + n.device_accessed_pages >=
        recount.arrived);
}

void check_table(Rig& rig, const Recount& recount, const Case& c) {
  std::uint64_t resident = 0, in_chunks = 0;
  const PageTable& table = rig.gmmu.memory().table();
  for (TreeIndex t = 0; t < table.size(); ++t) {
    const Tree& tree = table[t];
    tree.resident.for_each([&](unsigned page) { CHECK(recount.here.contains({t, page})); });
    resident += tree.resident.count();
    if (!tree.resident.empty()) in_chunks += tree.pages;
    CHECK(tree.incoming.empty());
    CHECK(tree.leaving.empty());
    CHECK((tree.wanted | tree.wanted_to_write).empty());
    CHECK((tree.dirty - tree.resident).empty());
    CHECK((tree.untouched - tree.resident).empty());
  }
  CHECK(resident == recount.here.size());
  const Frames& frames = rig.gmmu.memory().frames();
  CHECK(frames.used() + frames.free() == frames.all());
  CHECK(frames.used() == (c.chunks ? in_chunks : resident));
}

TEST_CASE("conservation: every page that came and did not leave is there, and the counters count just that") {
  for (unsigned round = 0; round < 84; ++round) {
    INFO("round " << round);
    const Case c = case_of(round);
    std::mt19937 random(round + 1);
    Rig rig(c.p, {kFirst, kSecond}, c.frames, 3, 200000);
    const unsigned orders = drive(rig, random, round % 3 != 2);
    REQUIRE(rig.run(false, 400'000'000));
    CHECK(rig.answered.size() == rig.tokens);
    CHECK(rig.completed.size() == orders);
    const Recount recount(rig.events);
    check_table(rig, recount, c);
    check_counters(rig, recount, c);
  }
}

TEST_CASE("conservation: without memory pressure nothing leaves by itself, and each page comes once") {
  for (unsigned round = 0; round < 12; ++round) {
    INFO("round " << round);
    Case c = case_of(round);
    c.frames = 1 << 14;
    c.p.free_buffer_percent = 0;
    std::mt19937 random(round + 77);
    Rig rig(c.p, {kFirst, kSecond}, c.frames, 3, 200000);
    (void)drive(rig, random, false);
    REQUIRE(rig.run(false, 400'000'000));
    const Recount recount(rig.events);
    CHECK(recount.left == 0);
    CHECK(recount.arrived == recount.here.size());
    CHECK(rig.gmmu.counters().evictions == 0);
    CHECK(rig.gmmu.counters().oversubscribed == 0);
    CHECK(rig.gmmu.counters().thrashed_pages == 0);
    std::set<std::uint64_t> asked;
    for (const auto& [token, what] : rig.asked) {
      const auto [place, write] = what;
      asked.insert(place.tree * kPagesPerTree + place.page);
      CHECK(rig.tree(place.tree).resident.contains(place.page));
      if (write) CHECK(rig.tree(place.tree).written);
    }
    CHECK(recount.arrived >= asked.size());
    if (prefetchers()[c.p.prefetcher] == &kNoPrefetch) CHECK(recount.arrived == asked.size());
  }
}

TEST_CASE(
    "conservation: transfers of a direction never overlap, and each takes the link's time for its pages") {
  for (unsigned round = 0; round < 12; ++round) {
    INFO("round " << round);
    Case c = case_of(round * 5 + 1);
    c.p.fault_cost = FaultCost::kAdditive;
    std::mt19937 random(round + 31);
    Rig rig(c.p, {kFirst, kSecond}, c.frames, 3, 200000);
    (void)drive(rig, random, true);
    REQUIRE(rig.run(false, 400'000'000));
    Cycle in_end = 0, out_end = 0, read_busy = 0, write_busy = 0;
    const LinkTimes times(*link_models()[c.p.link], {200000, c.p.link_gib});
    for (const Event& e : rig.events) {
      if (e.kind == Event::Kind::kTransfer || e.kind == Event::Kind::kPrefetch) {
        CHECK(e.start >= in_end);
        CHECK(e.end - e.start == times.cycles(Direction::kToDevice, e.run.pages));
        in_end = e.end;
        read_busy += e.end - e.start;
      } else if (e.kind == Event::Kind::kWriteBack) {
        CHECK(e.start >= out_end);
        CHECK(e.end - e.start == times.cycles(Direction::kToHost, e.run.pages));
        out_end = e.end;
        write_busy += e.end - e.start;
      }
    }
    CHECK(rig.gmmu.counters().read_busy_cycles == read_busy);
    CHECK(rig.gmmu.counters().write_busy_cycles == write_busy);
  }
}

}  // namespace
}  // namespace lockstep::uvm
