// Lines in the L1 without a load/store unit in front of it: random accesses against a table of sectors, and
// what happens to those that cannot go on.
#include "core/l1_lookup.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "lookup_bench.hpp"
#include "tests/random.hpp"

namespace lockstep::core::test {
namespace {

constexpr unsigned kTableLines = 24;  // that are accessed; the cache has room for all of them

/// What becomes of each sector, while no line takes another's place (L1Lookup's and L1Cache's comments).
class SectorTable {
 public:
  explicit SectorTable(const config::L1Group& l1)
      : on_store_(l1.allocate_on_store), on_miss_(l1.allocate_on_miss) {}
  struct Counts {
    unsigned hits = 0, misses = 0, merges = 0;
  };

  Counts access(LineKind kind, Address line, SectorMask sectors, const StoredBytes& bytes) {
    Line& at = lines_[line];
    Counts counts;
    for (unsigned s = 0; s < kSectorsPerLine; ++s) {
      if (!(sectors >> s & 1)) continue;
      if (kind == LineKind::kCachedLoad) {
        ++(at.there[s] ? counts.hits : at.asked[s] ? counts.merges : counts.misses);
        at.asked[s] = !at.there[s];
      } else if (kind == LineKind::kStore) {
        ++(at.there[s] ? counts.hits : counts.misses);
        if (on_store_ && bytes[s] == 0xffffffff && !at.asked[s]) at.there[s] = true;
      } else {  // served at the L2; the SM's copy is out of date then
        ++counts.misses;
        at.there[s] = false;
      }
    }
    if (kind == LineKind::kCachedLoad && counts.misses > 0 && on_miss_ && !at.has_place)
      at.has_place = at.awaited = true;
    if (kind == LineKind::kStore && at.any()) at.has_place = true;
    if (!at.any() && !at.awaited) at.has_place = false;
    return counts;
  }
  /// Of a line that got its place with its request, and has lost it since, nothing is kept.
  void arrive(Address line, SectorMask sectors) {
    Line& at = lines_[line];
    const bool kept = !on_miss_ || at.has_place;
    for (unsigned s = 0; s < kSectorsPerLine; ++s) {
      if (!(sectors >> s & 1)) continue;
      at.asked[s] = false;
      at.there[s] = kept;
    }
    at.has_place = kept;
    at.awaited = false;
  }
  /// False: some of it has been asked for.
  bool drop(Address first, Address bytes) {
    const auto begin = lines_.lower_bound(first), end = lines_.lower_bound(first + bytes);
    if (std::any_of(begin, end,
                    [](const auto& entry) { return std::ranges::count(entry.second.asked, true) > 0; }))
      return false;
    lines_.erase(begin, end);
    return true;
  }

 private:
  struct Line {
    std::array<bool, kSectorsPerLine> there{}, asked{};
    bool has_place = false, awaited = false;  // awaited: none of its sectors has come
    [[nodiscard]] bool any() const { return std::ranges::count(there, true) > 0; }
  };
  bool on_store_, on_miss_;
  std::map<Address, Line> lines_;
};

struct Access {
  LsuAccess operation;
  LineAccess line;
  StoredBytes bytes{};
};

Access random_access(lockstep::test::Random32& random, std::uint32_t handle) {
  constexpr LineKind kKinds[] = {LineKind::kCachedLoad, LineKind::kCachedLoad, LineKind::kCachedLoad,
                                 LineKind::kStore,      LineKind::kDirectLoad, LineKind::kAtomic,
                                 LineKind::kReduction};
  Access access;
  access.operation.kind = kKinds[random() % std::size(kKinds)];
  access.operation.handle = handle;
  access.line.line = kData + kLineBytes * (random() % kTableLines);
  access.line.sectors = static_cast<SectorMask>(1 + random() % 15);
  access.line.operations = 1;
  if (access.operation.kind == LineKind::kStore)
    for (unsigned s = 0; s < kSectorsPerLine; ++s)
      if (access.line.sectors >> s & 1) access.bytes[s] = random() % 2 == 0 ? 0xffffffff : 1;
  return access;
}

config::GpuConfig random_tables(lockstep::test::Random32& random) {
  config::GpuConfig c = lsu_config();
  c.l1.bytes = kTableLines * kLineBytes;
  c.l1.ways = kTableLines;
  c.l1.allocate_on_store = random() % 2 == 0;
  c.l1.allocate_on_miss = random() % 2 == 0;
  c.l1.mshrs = 1 + random() % 6;
  c.l1.pending_instructions = 1 + random() % 8;
  c.icnt.sm_queue_entries = 1 + random() % 3;
  return c;
}

TEST_CASE("sectors hit, merge and miss as a table of them says; a line that is blocked changes nothing") {
  std::size_t blocked_at_port = 0, blocked_at_table = 0, drops = 0, refused = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    lockstep::test::Random32 random(seed);
    const config::GpuConfig config = random_tables(random);
    LookupBench bench(config);
    SectorTable table(config.l1);
    std::uint32_t handle = 0;
    Access access = random_access(random, handle);
    std::map<std::uint32_t, LineKind> issued;
    for (int cycle = 0; cycle < 600; ++cycle) {
      CAPTURE(cycle);
      bench.next_cycle();
      if (!bench.asked.empty() && random() % 3 == 0) {
        const std::size_t which = random() % bench.asked.size();
        const icnt::Request request = bench.asked[which];
        const auto some = static_cast<SectorMask>(request.sectors & (1 + random() % 15));
        const bool whole = request.kind != icnt::AccessKind::kLoad || some == 0;
        const SectorMask back = whole ? request.sectors : some;
        // A load past the L1 asks for its sectors itself, and they are not kept.
        if (request.kind == icnt::AccessKind::kLoad && !(request.tag >> 31)) table.arrive(request.line, back);
        bench.reply(which, back);
      }
      if (random() % 40 == 0) {
        const Address first = kData + kLineBytes * (random() % kTableLines),
                      bytes = Address{kLineBytes} << random() % 4;
        const bool expected = table.drop(first, bytes);
        REQUIRE(bench.l1.drop(first, bytes) == expected);
        ++(expected ? drops : refused);
      }
      if (random() % 4 == 0) continue;
      const auto before = bench.state();
      const stats::CacheCounters counted = bench.counters[0].l1;
      const Blocked blocked = bench.l1.look_up(bench.now, access.operation, access.line, access.bytes);
      if (blocked != Blocked::kNo) {
        REQUIRE(bench.state() == before);
        blocked_at_port += blocked == Blocked::kPort;
        blocked_at_table += blocked == Blocked::kTable;
        continue;
      }
      const LineKind kind = access.operation.kind;
      const auto expected = table.access(kind, access.line.line, access.line.sectors, access.bytes);
      const stats::CacheCounters& c = bench.counters[0].l1;
      REQUIRE(c.hits - counted.hits == expected.hits);
      REQUIRE(c.misses - counted.misses == expected.misses);
      REQUIRE(c.mshr_merges - counted.mshr_merges == expected.merges);
      bench.results.all_issued(bench.now, access.operation, bench.now + 5);
      issued.emplace(handle, kind);
      access = random_access(random, ++handle);
    }
    for (int cycle = 0; cycle < 1000; ++cycle) {
      bench.next_cycle();
      if (!bench.asked.empty()) bench.reply(0, bench.asked[0].sectors);
    }
    REQUIRE(bench.results.idle());
    REQUIRE(bench.l1.missing() == 0);
    REQUIRE(bench.ended.size() == issued.size());
    for (const auto& [number, kind] : issued)
      REQUIRE(bench.ended.at(number) ==
              (is_acknowledged(kind) ? MioEvent::Kind::kAcknowledged : MioEvent::Kind::kResult));
  }
  CHECK(blocked_at_port > 100);
  CHECK(blocked_at_table > 100);
  CHECK(drops > 50);
  CHECK(refused > 50);
}

}  // namespace
}  // namespace lockstep::core::test
