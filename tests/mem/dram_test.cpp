// The DRAM channel: each timing rule "not at edge N-1, yes at N", closed forms of latency and bandwidth,
// policy.
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "mem/dram_channel.hpp"

namespace lockstep::mem {
namespace {

/// All parameters different, so that no rule hides behind another.
config::DramGroup odd_timing() {
  config::DramGroup d;
  d.bank_groups = 4;
  d.banks_per_group = 4;
  d.burst_cycles = 2;
  d.tRCD = 13;
  d.tRP = 17;
  d.tRAS = 41;
  d.tCL = 19;
  d.tCWL = 7;
  d.tCCD_S = 3;
  d.tCCD_L = 5;
  d.tRRD_S = 6;
  d.tRRD_L = 9;
  d.tFAW = 37;
  d.tWTR_S = 8;
  d.tWTR_L = 11;
  d.tRTP = 10;
  d.tWR = 23;
  d.tRTW = 16;
  d.tREFI = 1000000;
  d.tRFC = 50;
  d.refresh = config::Refresh::kAllBanks;
  return d;
}

TEST_CASE("each timing rule: not one edge earlier") {
  using enum DramCommand;
  const config::DramGroup d = odd_timing();
  struct Probe {
    const char* name;
    DramCommand first, then;
    std::uint32_t bank, other;  // 0..3 are group 0
    std::uint32_t cycles;
  };
  const Probe probes[] = {
      {"tRCD read", kActivate, kRead, 0, 0, 13},
      {"tRCD write", kActivate, kWrite, 0, 0, 13},
      {"tRAS", kActivate, kPrecharge, 0, 0, 41},
      {"tRP", kPrecharge, kActivate, 0, 0, 17},
      {"tRTP", kRead, kPrecharge, 0, 0, 10},
      {"tWR", kWrite, kPrecharge, 0, 0, 7 + 2 + 23},
      {"tCCD_L", kRead, kRead, 0, 1, 5},
      {"tCCD_S", kRead, kRead, 0, 4, 3},
      {"tCCD_L write", kWrite, kWrite, 0, 1, 5},
      {"tCCD_S write", kWrite, kWrite, 0, 4, 3},
      {"tRRD_L", kActivate, kActivate, 0, 1, 9},
      {"tRRD_S", kActivate, kActivate, 0, 4, 6},
      {"tWTR_L", kWrite, kRead, 0, 1, 7 + 2 + 11},
      {"tWTR_S", kWrite, kRead, 0, 4, 7 + 2 + 8},
      {"tRTW", kRead, kWrite, 0, 4, 16},
      {"none: read, then precharge of another bank", kRead, kPrecharge, 0, 1, 0},
      {"none: precharge, then activate of another bank", kPrecharge, kActivate, 0, 1, 0},
      {"none: activate, then read of another bank", kActivate, kRead, 0, 1, 0},
  };
  for (const Probe& p : probes) {
    DramTiming t(d);
    INFO(p.name);
    CHECK(t.earliest(p.then, p.other) == 0);
    t.issue(p.first, p.bank, 1000);
    CHECK(t.earliest(p.then, p.other) == (p.cycles ? 1000 + p.cycles : 0));
  }
}

TEST_CASE("four activates in tFAW") {
  DramTiming t(odd_timing());
  for (std::uint32_t i = 0; i < 3; ++i) t.issue(DramCommand::kActivate, i * 4, 1000 + i * 6);
  CHECK(t.earliest(DramCommand::kActivate, 12) == 1012 + 6);
  t.issue(DramCommand::kActivate, 12, 1018);
  CHECK(t.earliest(DramCommand::kActivate, 1) == 1000 + 37);
  t.issue(DramCommand::kActivate, 1, 1037);
  CHECK(t.earliest(DramCommand::kActivate, 5) == 1006 + 37);
}

/// From when `then` may go to `bank`, read off the rules: of the last `count` commands of each scope the
/// earliest decides.
Cycle earliest_by_definition(const std::vector<DramRule>& rules, const config::DramGroup& d,
                             const std::vector<std::tuple<DramCommand, std::uint32_t, Cycle>>& issued,
                             DramCommand then, std::uint32_t bank) {
  Cycle earliest = 0;
  for (const DramRule& rule : rules) {
    if (rule.then != then) continue;
    const std::uint32_t banks = rule.scope == DramScope::kBank    ? 1
                                : rule.scope == DramScope::kGroup ? d.banks_per_group
                                                                  : d.bank_groups * d.banks_per_group;
    std::uint32_t left = rule.count;
    for (auto i = issued.rbegin(); i != issued.rend() && left > 0; ++i) {
      const auto& [command, where, at] = *i;
      if (command == rule.first && where / banks == bank / banks && --left == 0)
        earliest = std::max(earliest, at + rule.cycles);
    }
  }
  return earliest;
}

TEST_CASE("rules of any count in any scope, against their definition") {
  std::mt19937 random(21);
  const config::DramGroup d = odd_timing();
  const auto command = [&] { return static_cast<DramCommand>(random() % 4); };
  for (int round = 0; round < 50; ++round) {
    std::vector<DramRule> rules(1 + random() % 8);
    for (DramRule& rule : rules)
      rule = {command(), command(), static_cast<DramScope>(random() % 3),
              static_cast<std::uint32_t>(1 + random() % 60), static_cast<std::uint32_t>(1 + random() % 6)};
    DramTiming timing(d, rules);
    std::vector<std::tuple<DramCommand, std::uint32_t, Cycle>> issued;
    for (Cycle now = 1000; issued.size() < 60;) {
      const DramCommand next = command();
      const auto bank = static_cast<std::uint32_t>(random() % 16);
      const Cycle earliest = timing.earliest(next, bank);
      REQUIRE(earliest == earliest_by_definition(rules, d, issued, next, bank));
      now = std::max(now + random() % 4, earliest);
      timing.issue(next, bank, now);
      issued.emplace_back(next, bank, now);
    }
  }
}

TEST_CASE("a rule that counts no command is refused") {
  using enum DramCommand;
  CHECK_THROWS_AS(DramTiming(odd_timing(), {{kActivate, kActivate, DramScope::kChannel, 10, 0}}),
                  std::invalid_argument);
}

TEST_CASE("the data of a write never overlap those of a read, whatever tRTW") {
  config::DramGroup d = odd_timing();
  d.tRTW = 1;
  DramTiming t(d);
  t.issue(DramCommand::kRead, 0, 1000);
  CHECK(t.earliest(DramCommand::kWrite, 4) == 1000 + 19 + 2 - 7);
}

/// A channel whose events are noted.
struct Bench {
  explicit Bench(const config::DramGroup& d, bool every_edge = false) : Bench(d, every_edge, d.tREFI) {}
  Bench(const config::DramGroup& d, bool every_edge, Cycle first_refresh)
      : dram(d), counters(4), channel(d, counters.data(), first_refresh), visit_all(every_edge) {}

  void read(std::uint32_t bank, std::uint64_t row, std::uint8_t bursts = 1, std::uint16_t id = 0) {
    channel.push_read(now, {row, static_cast<std::uint16_t>(bank), bursts, 0, false, {0, id, 1}});
  }
  void write(std::uint32_t bank, std::uint64_t row, std::uint8_t bursts = 1) {
    channel.push_write(now, {row, static_cast<std::uint16_t>(bank), bursts, 0, true, {}});
  }
  /// Edges now..end-1.
  void run(Cycle end) {
    while (now < end) {
      if (visit_all) {
        channel.mark_stale();
      } else {
        now = std::max(now, std::min(channel.next_event(), end));
        if (now >= end) break;
      }
      channel.tick(
          now, visit_all ? now + 1 : end,
          [&](const FillTarget& f, Cycle at) { data.emplace_back(f.mshr, at); },
          [&](Cycle at) { written.push_back(at); });
      ++now;
    }
    now = std::max(now, end);
  }

  config::DramGroup dram;
  std::vector<stats::PartitionCounters> counters;
  DramChannel channel;
  bool visit_all;
  Cycle now = 0;
  std::vector<std::pair<std::uint16_t, Cycle>> data;  // whose last datum ended when
  std::vector<Cycle> written;                         // write commands
};

TEST_CASE("unloaded read latency: closed, hit, conflict") {
  Bench b(odd_timing());
  b.run(100);
  b.read(0, 1);
  b.run(500);
  b.read(0, 1);
  b.run(1000);
  b.read(0, 2);
  b.run(2000);
  REQUIRE(b.data.size() == 3);
  CHECK(b.data[0].second == 100 + 13 + 19 + 2);        // tRCD + tCL + burst
  CHECK(b.data[1].second == 500 + 19 + 2);             // tCL + burst
  CHECK(b.data[2].second == 1000 + 17 + 13 + 19 + 2);  // tRP + tRCD + tCL + burst
  CHECK(b.counters[0].dram_reads == 3);
  CHECK(b.counters[0].dram_row_hits == 1);
  CHECK(b.counters[0].dram_row_misses == 2);
  CHECK(b.counters[0].dram_activates == 2);
  CHECK(b.counters[0].dram_precharges == 1);
  CHECK(b.counters[0].dram_bytes == 96);
  CHECK(b.channel.idle());
  CHECK(b.channel.next_event() == kNever);
}

TEST_CASE("peak bandwidth: tCCD_L in one bank group, the data bus with two") {
  config::DramGroup d = config::DramGroup{};  // tCCD_S 2, tCCD_L 4, bursts of 2
  for (const bool groups : {false, true}) {
    Bench b(d);
    for (std::uint32_t i = 0; i < 64; ++i) b.read(groups ? i % 2 * 4 : 0, 7, 4);
    b.run(3000);
    REQUIRE(b.data.size() == 64);
    const Cycle first = 12 + 12 + 2;
    const Cycle second_activate = 3;  // tRRD_S: the other bank comes so much later
    if (groups) {
      CHECK(b.data.back().second >= first + 255 * 2);
      CHECK(b.data.back().second <= first + 255 * 2 + 4 + second_activate);
    } else {
      CHECK(b.data.back().second == first + 255 * 4);
    }
  }
}

TEST_CASE("first ready, first come: hits of the open row before an older conflict; nothing starves") {
  Bench b(odd_timing());
  b.read(0, 1, 1, 1);
  b.run(200);
  b.read(0, 2, 1, 2);
  b.read(0, 1, 1, 3);
  b.read(0, 1, 1, 4);
  b.run(1000);
  REQUIRE(b.data.size() == 4);
  CHECK(b.data[1].first == 3);
  CHECK(b.data[2].first == 4);
  CHECK(b.data[3].first == 2);
}

TEST_CASE("reads go first; writes are drained from the high watermark to the low one, or when idle") {
  config::DramGroup d = odd_timing();
  d.write_queue = 16;
  d.write_high = 8;
  d.write_low = 2;
  Bench b(d);
  for (int i = 0; i < 7; ++i) b.write(0, 1);
  b.read(4, 1);
  b.run(1);
  CHECK(b.written.empty());
  b.run(2000);
  CHECK(b.written.size() == 7);  // no reads left
  CHECK(b.written.front() > b.data.front().second - 19 - 2);

  Bench full(d);
  for (int i = 0; i < 30; ++i) full.read(4, 1);
  for (int i = 0; i < 8; ++i) full.write(0, 1);
  full.run(2000);
  REQUIRE(full.written.size() == 8);
  REQUIRE(full.data.size() == 30);
  // Six writes at once (8 to 2), the last two behind the reads.
  CHECK(full.written[5] < full.data[0].second);
  CHECK(full.written[6] > full.data[29].second - 19 - 2);
}

TEST_CASE("a refresh closes the rows and keeps the banks for tRFC") {
  config::DramGroup d = odd_timing();
  d.tREFI = 500;
  Bench b(d);
  b.run(440);
  b.read(0, 1);
  b.run(499);
  b.read(0, 1);  // a hit if it came before the refresh: read at 499
  b.run(500);
  b.read(0, 1, 1, 9);
  b.run(990);
  REQUIRE(b.data.size() == 3);
  CHECK(b.data[1].second == 499 + 21);
  // precharge at 499 + tRTP, refresh tRP later, tRFC, then activate and read
  CHECK(b.data[2].second == 499 + 10 + 17 + 50 + 13 + 21);
  // A sleep over many refreshes leaves the bank as an idle refresh at 10000 does.
  b.run(10020);
  b.read(0, 1);
  b.run(10400);
  CHECK(b.data.back().second == 10000 + 50 + 13 + 21);
}

TEST_CASE("a single-bank refresh closes its bank's row, and the others go on") {
  config::DramGroup d = odd_timing();
  d.tREFI = 1600;
  d.refresh = config::Refresh::kSingleBank;
  Bench b(d, false, 500);  // bank k at 500 + 100 k, and each tREFI later
  const std::vector<Cycle> due = {500, 600};
  b.run(440);
  for (const std::uint32_t bank : {0u, 1u}) b.read(bank, 1);
  for (const std::uint32_t bank : {0u, 1u}) {
    b.run(due[bank]);
    b.data.clear();
    b.read(0, 1);  // bank 0 when it has just become due: precharge, refresh, activate, read
    b.read(1, 1);
    b.run(due[bank] + 99);
    REQUIRE(b.data.size() == 2);
    const Cycle rested = due[bank] + 17 + 50 + 13 + 21, hit = due[bank] + 21;
    CHECK(std::max(b.data[0].second, b.data[1].second) == rested);
    CHECK(std::min(b.data[0].second, b.data[1].second) == hit);
  }
  // A sleep over many refreshes leaves bank 1 as an idle refresh at 600 + 20 * 1600 does.
  b.run(32620);
  b.read(1, 1);
  b.run(33000);
  CHECK(b.data.back().second == 32600 + 50 + 13 + 21);
}

TEST_CASE("row and column commands go out together, or one after the other on a shared bus") {
  using config::DramStandard;
  for (const DramStandard standard : {DramStandard::kHbm, DramStandard::kGddr}) {
    config::DramGroup d = odd_timing();
    d.standard = standard;
    Bench b(d);
    b.read(0, 1);
    b.run(400);
    b.read(0, 1, 1, 7);  // the open row: a read command
    b.read(4, 1, 1, 8);  // another bank group, closed: an activate at the same edge
    b.run(1000);
    REQUIRE(b.data.size() == 3);
    CHECK(b.data[1] == std::pair<std::uint16_t, Cycle>{7, 400 + 19 + 2});
    const Cycle activate = standard == DramStandard::kHbm ? 400 : 401;
    CHECK(b.data[2] == std::pair<std::uint16_t, Cycle>{8, activate + 13 + 19 + 2});
  }
}

TEST_CASE("a shared bus is no slower where columns leave room for rows") {
  // Each row gives one burst: an activate, a precharge and a read for every two edges of data are more than
  // one bus carries, three commands in four edges (bursts of 4) are not.
  for (const std::uint32_t burst : {2u, 4u}) {
    std::array<Cycle, 2> end{};
    for (const bool shared : {false, true}) {
      config::DramGroup d;
      d.burst_cycles = burst;
      d.tRRD_S = d.tRRD_L = 1, d.tFAW = 4, d.tCCD_S = d.tCCD_L = burst, d.tREFI = 1000000;
      d.tRCD = d.tRP = d.tRTP = 2, d.tRAS = 4;
      if (shared) d.standard = config::DramStandard::kGddr;
      Bench b(d);
      for (std::uint64_t i = 0; i < 64; ++i) b.read(static_cast<std::uint32_t>(i % 16), i);
      b.run(3000);
      REQUIRE(b.data.size() == 64);
      end[shared] = b.data.back().second;
    }
    CHECK(end[1] >= end[0]);
    if (burst == 2) CHECK(end[1] >= 64 * 3 - 16);  // three commands a read, but for the first 16 precharges
    if (burst == 4) CHECK(end[1] <= end[0] + 16);
  }
}

TEST_CASE("visiting every edge gives the same as jumping to events") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 engine(seed);
    const auto random = [&] { return static_cast<std::uint32_t>(engine() >> 33); };
    config::DramGroup d = odd_timing();
    d.tREFI = 400 + random() % 1000;
    d.tRFC = 1 + random() % 150;
    if (seed % 2 == 0) d.refresh = config::Refresh::kSingleBank;
    d.read_queue = 4 + random() % 20;
    d.write_queue = 10;
    d.write_high = 8;
    d.write_low = 3;
    if (seed % 4 < 2) d.standard = config::DramStandard::kGddr;
    Bench jump(d), all(d, true);
    for (int i = 0; i < 400; ++i) {
      const auto gap = random() % (i % 50 == 49 ? 20000 : 30);
      const auto bank = static_cast<std::uint32_t>(random() % 16);
      const std::uint64_t row = random() % 3;
      const auto bursts = static_cast<std::uint8_t>(1 + random() % 4);
      const bool write = random() % 3 == 0;
      for (Bench* b : {&jump, &all}) {
        b->run(b->now + gap);
        if (write && b->channel.write_room()) b->write(bank, row, bursts);
        if (!write) b->read(bank, row, bursts, static_cast<std::uint16_t>(i));
      }
    }
    for (Bench* b : {&jump, &all}) b->run(b->now + 50000);
    CHECK(jump.data == all.data);
    CHECK(jump.written == all.written);
    CHECK(std::memcmp(jump.counters.data(), all.counters.data(), sizeof(stats::PartitionCounters)) == 0);
    CHECK(jump.channel.idle());
    CHECK(jump.counters[0].dram_row_hits + jump.counters[0].dram_row_misses ==
          jump.counters[0].dram_reads + jump.counters[0].dram_writes);
  }
}

}  // namespace
}  // namespace lockstep::mem
