// How lookups are booked, against counting sector by sector; sums of counters and energies.
#include "stats/counters.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "stats/derived.hpp"
#include "stats/host_report.hpp"
#include "tests/random.hpp"
#include "tests/stats/samples.hpp"

namespace lockstep::stats {

TEST_CASE("counters: sectors of lookups are booked as hits, misses and merges of reads and writes") {
  test::Random32 random(1);
  CacheCounters cache;
  LocalCounters local;
  std::uint64_t sums[2][3] = {}, line_misses[2] = {};
  for (unsigned i = 0; i < 2000; ++i) {
    const bool read = random() % 2 == 0, there = random() % 3 == 0;
    const std::uint64_t hits = random() % 5, misses = random() % 5, merges = read ? random() % 3 : 0;
    book_lookup(cache, read, hits, misses, merges, there);
    book_local(local, read, hits, misses, merges, there);
    auto& of = sums[read ? 1 : 0];
    for (std::uint64_t s = 0; s < hits; ++s) ++of[0];
    for (std::uint64_t s = 0; s < misses; ++s) ++of[1];
    for (std::uint64_t s = 0; s < merges; ++s) ++of[2];
    if (misses != 0 && !there) ++line_misses[read ? 1 : 0];
  }
  const auto &writes = sums[0], &reads = sums[1];
  CHECK((cache.read_hits == reads[0] && cache.read_misses == reads[1]));
  CHECK((cache.write_hits == writes[0] && cache.write_misses == writes[1]));
  CHECK(cache.sectors_read == reads[0] + reads[1] + reads[2]);
  CHECK(cache.sectors_written == writes[0] + writes[1]);
  CHECK(cache.accesses == cache.hits + cache.misses + cache.mshr_merges);
  CHECK(cache.accesses == cache.sectors_read + cache.sectors_written);
  CHECK((cache.read_line_misses == line_misses[1] && cache.write_line_misses == line_misses[0]));
  CHECK(cache.requests == 0);
  CHECK((local.read_hits == reads[0] && local.read_misses == reads[1] && local.read_merges == reads[2]));
  CHECK((local.write_hits == writes[0] && local.write_misses == writes[1]));
  CHECK((local.read_line_misses == line_misses[1] && local.write_line_misses == line_misses[0]));
}

TEST_CASE("counters: totals are sums over kernels, and idle is what no stall covers") {
  RunReport report = sample_report(0);
  for (std::uint64_t k = 1; k <= 2; ++k) {
    KernelResult kernel;
    kernel.cycles = 100 * k;
    kernel.launch_cycles = 7;
    kernel.subcores = 8;
    kernel.counters.sm.stalls[0] = 300 * k;
    kernel.counters.sm.stalls[5] = 400 * k;
    kernel.counters.mem.dram_bytes = 1000 * k;
    report.kernels.push_back(kernel);
  }
  CHECK(idle_cycles(report.kernels[0]) == 100);
  const Totals sum = totals(report);
  CHECK((sum.cycles == 300 && sum.launch_cycles == 14 && sum.subcore_cycles == 2400 && sum.idle == 300));
  CHECK(sum.counters.mem.dram_bytes == 3000);
  CHECK(sum.counters.sm.stalls[5] == 1200);
  CHECK_FALSE(sum.energy.has_value());
  report.kernels[0].counters.sm.stalls[0] = 1'000'000;  // more than there are: none idle, not 2^64
  CHECK(idle_cycles(report.kernels[0]) == 0);
}

TEST_CASE("counters: energies are summed part by part over the kernels that have one") {
  RunReport report = sample_report(3);
  report.kernels[0].energy.emplace();
  report.kernels[2].energy.emplace();
  std::uint64_t all = 0;
  for (unsigned p = 0; p < kEnergyParts; ++p) {
    report.kernels[0].energy->picojoules[p] = p;
    report.kernels[2].energy->picojoules[p] = 1000;
    all += p + 1000;
  }
  const Totals sum = totals(report);
  REQUIRE(sum.energy.has_value());
  CHECK(sum.energy->total() == all);
  CHECK(sum.energy->picojoules[3] == 1003);
}

TEST_CASE("counters: energy parts have different names, each with its help") {
  std::set<std::string_view> names;
  for (const EnergyRow& row : energy_rows()) {
    names.insert(row.name);
    CHECK_FALSE(row.help.empty());
  }
  CHECK(names.size() == kEnergyParts);
  CHECK(energy_rows()[static_cast<unsigned>(EnergyPart::kDram)].name == "dram");
  CHECK(energy_rows()[static_cast<unsigned>(EnergyPart::kBoard)].name == "board");
}

TEST_CASE("counters: power and times by hand") {
  CHECK(milliwatts(1'000'000, 1000, 1'000'000) == "1000");  // 1 uJ in 1 us is 1 W
  CHECK(milliwatts(1'500'000, 1000, 500'000) == "750");     // twice as long
  CHECK(milliwatts(5, 0, 1000) == "0");
  RunReport report = sample_report(0);
  report.total_cycles = 3;
  report.core_khz = 1'500'000;
  CHECK(run_ps(report) == 2000);
  LinkResult link;
  link.bytes = 50'000'000'000;
  link.bytes_per_second = 25'000'000'000;
  CHECK(busy_ps(link) == 2'000'000'000'000);
  link.bytes_per_second = 0;
  CHECK(busy_ps(link) == 0);
}

TEST_CASE("host report: date, host and command; what is known already is kept") {
  HostReport host;
  describe_host(host, "lockstep run t", 2.5);
  REQUIRE(host.date.size() == 20);  // 2026-01-31T12:34:56Z
  CHECK((host.date[4] == '-' && host.date[10] == 'T' && host.date[13] == ':' && host.date[19] == 'Z'));
  CHECK(host.command == "lockstep run t");
  CHECK_FALSE(host.host.empty());
  CHECK(host.wall_seconds == 2.5);
  CHECK(host.peak_rss_bytes > 100'000);
  HostReport known;
  known.wall_seconds = 9;
  known.cpu_seconds = 8;
  known.peak_rss_bytes = 7;
  describe_host(known, "", 2.5);
  CHECK((known.wall_seconds == 9 && known.cpu_seconds == 8 && known.peak_rss_bytes == 7));
}

}  // namespace lockstep::stats
