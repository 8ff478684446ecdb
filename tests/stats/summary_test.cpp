// The lines of the summary below the table of kernels, worked out by hand. A cycle is a nanosecond.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "stats/kernel_table.hpp"
#include "stats/report.hpp"
#include "tests/stats/samples.hpp"

namespace lockstep::stats {
namespace {

using Catch::Contains;

RunReport summary_report(std::uint64_t kernels = 0) {
  RunReport report = sample_report(kernels);
  report.core_khz = 1'000'000;
  report.total_cycles = 1000;
  report.copies.clear();
  report.remarks.clear();
  report.unknown_opcodes.clear();
  return report;
}

/// 1 GB/s: a byte is a cycle, and a tenth of a percent of the run.
LinkResult link_of(const std::string& to, std::uint64_t bytes, const std::string& kind = "nvlink") {
  return {.from = "gpu0",
          .to = to,
          .kind = kind,
          .count = 2,
          .bytes_per_second = 1'000'000'000,
          .bytes = bytes,
          .data_bytes = bytes / 2};
}

SystemReport two_devices() {
  return {.name = "pair",
          .devices = {{"a100", 1, 1'000'000}, {"a100", 1, 1'000'000}},
          .links = {},
          .network = {},
          .managed = {}};
}

/// The lines of the summary that begin with `start`.
std::vector<std::string> summary_lines(const RunReport& report, const std::string& start,
                                       const HostReport& host = {}) {
  std::vector<std::string> found;
  const std::string text = to_text(report, host);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (text.compare(at, start.size(), start) == 0) found.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("summary: the first line names program, trace and machine, the clock in whole MHz") {
  RunReport report = summary_report();
  report.core_khz = 1'379'500;
  CHECK(summary_lines(report, "lockstep") ==
        Lines{"lockstep 9.8.7: vectoradd (ffffffffffffffff) on v100 (configuration 0000000000000abc), core "
              "1380 MHz"});
  report.system = two_devices();
  CHECK_THAT(to_text(report, {}), Contains(" on pair, 2 devices: v100 ("));
  report.system->devices.pop_back();
  CHECK_THAT(to_text(report, {}), Contains(" on pair, 1 device: v100 ("));
  CHECK_THAT(to_text(report, {}), Contains("no kernel was run"));
}

TEST_CASE("summary: bytes of copies are summed by direction, and all their time") {
  RunReport report = summary_report();
  CHECK(summary_lines(report, "copies").empty());
  const auto copy = [&](const char* kind, std::uint64_t bytes, Cycle cycles) {
    report.copies.push_back({kind, 0, bytes, 0, cycles});
  };
  copy("host_to_device", 1024, 1000);
  copy("host_to_device", 512, 500);
  copy("device_to_host", 100, 30);
  CHECK(summary_lines(report, "copies") ==
        Lines{"copies: 3, 1.5 KiB to the device, 100 B to the host, 1.53 us"});
  copy("fill", 3, 1);
  copy("device_to_device", 4, 1);
  copy("peer_to_peer", 2048, 8);
  CHECK(summary_lines(report, "copies") ==
        Lines{"copies: 6, 1.5 KiB to the device, 100 B to the host, 7 B within the device, 2.0 KiB between "
              "devices, 1.54 us"});
}

TEST_CASE("summary: the eight links with most bytes, the number of others with traffic") {
  RunReport report = summary_report();
  report.system = two_devices();
  for (const unsigned hundreds : {3u, 9u, 0u, 1u, 7u, 5u, 2u, 8u, 4u, 6u})
    report.system->links.push_back(link_of("gpu" + std::to_string(hundreds), 100 * hundreds));
  Lines expected;
  for (unsigned hundreds = 9; hundreds >= 2; --hundreds) {
    const std::string n = std::to_string(hundreds);
    expected.push_back("link gpu0 to gpu" + n + " (2 nvlink): " + std::to_string(50 * hundreds) +
                       " B data, busy " + n + "0.0 %");
  }
  CHECK(summary_lines(report, "link") == expected);
  CHECK(summary_lines(report, "and ") == Lines{"and 1 more links with traffic: stats.json has all"});
  report.system->links[3].bytes = 0;  // the one of 100 bytes
  CHECK(summary_lines(report, "link").size() == 8);
  CHECK(summary_lines(report, "and ").empty());
}

TEST_CASE("summary: with a network, mean and largest utilisation of each kind of link") {
  RunReport report = summary_report();
  report.system = two_devices();
  report.system->links = {link_of("gpu1", 500), link_of("gpu2", 101), link_of("nic0", 0, "pcie")};
  CHECK(summary_lines(report, "utilisation").empty());
  report.system->network.emplace();
  CHECK(summary_lines(report, "utilisation") ==  // (50 + 10.1) / 2
        Lines{"utilisation by kind of link, mean (busiest): nvlink 30.05 % (50.00 %), pcie 0.00 % (0.00 %)"});
}

TEST_CASE("summary: managed memory of one device, and of each of several") {
  RunReport report = summary_report();
  ManagedReport managed;
  managed.device_bytes = 1 << 20;
  auto& c = managed.counters.gmmu;
  c.peak_resident_pages = 3;  // of 4 KiB
  c.faults = 1234;
  c.bytes_to_device = 12288;
  c.bytes_to_host = 4096;
  c.thrashed_pages = 5678;
  const std::string expected =
      "12.0 KiB of 1.0 MiB on the device, 1,234 far faults, 12.0 KiB in, 4.0 KiB out, 5,678 pages thrashed";
  report.managed = managed;
  CHECK(summary_lines(report, "managed") == Lines{"managed: " + expected});
  report.managed.reset();
  report.system = two_devices();
  managed.peers = {{}, {.in = 2, .out = 100, .copies_in = 1, .copies_out = 100}};
  report.system->managed = {managed, {}};
  CHECK(summary_lines(report, "managed") ==
        Lines{"managed, device 0: " + expected + ", 12.0 KiB from other devices",
              "managed, device 1: 0 B of 0 B on the device, 0 far faults, 0 B in, 0 B out, 0 pages thrashed, "
              "0 B from other devices"});
}

TEST_CASE("summary: a run by samples says what was timed and whether the interval is as narrow as asked") {
  RunReport report = summary_report();
  SamplingReport& s = report.sampling.emplace();
  s = {.error = 0.02,
       .confidence = 0.95,
       .launches = 5000,
       .launches_timed = 12,
       .ctas = 7,
       .ctas_timed = 6,
       .cycles = {1'000'000, 20'000},
       .counters = {},
       .groups = {}};
  CHECK(summary_lines(report, "sampled") ==
        Lines{"sampled: 12 of 5,000 launches timed, 6 of 7 CTAs; the others are estimates"});
  CHECK(summary_lines(report, "cycles of") ==
        Lines{"cycles of all kernels: 1e+06 +- 2e+04 (2.00 %) at 95 % confidence"});
  s.error = 0.0199;
  CHECK_THAT(to_text(report, {}), Contains("confidence: wider than the 1.99 % asked for\n"));
  s.cycles = {};
  CHECK_THAT(to_text(report, {}), Contains("kernels: 0 +- 0 (0.00 %) at"));
  CHECK(summary_lines(report, "kernels overlapped").empty());
  s.overlap = true;
  CHECK(summary_lines(report, "kernels overlapped").size() == 1);
}

TEST_CASE("summary: eight changed values, opcodes and remarks, then the number of the others") {
  for (const unsigned count : {8u, 9u, 11u}) {
    RunReport report = summary_report();
    std::string values, opcodes, remarks;
    for (unsigned i = 0; i < count; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      report.overrides[name] = "1";
      report.unknown_opcodes.emplace_back(name, 1000);
      report.remarks.push_back(name);
      if (i >= 8) continue;
      values += (i ? ", " : "") + name + " = 1";
      opcodes += (i ? ", " : " ") + name + " (1,000x)";
      remarks += "remark: " + name + "\n";
    }
    const std::string others = count > 8 ? "and " + std::to_string(count - 8) + " more" : "";
    const std::string behind = (others.empty() ? "" : " ") + others + "\n";
    const std::string text = to_text(report, {});
    CHECK_THAT(text, Contains("changed values: " + values + behind));
    CHECK_THAT(text, Contains("timed as their class's default:" + opcodes + behind));
    CHECK_THAT(text, Catch::EndsWith(remarks + (others.empty() ? "" : others + " remarks\n")));
  }
}

TEST_CASE("summary: partial results say why, and kernels without an end are marked") {
  RunReport report = summary_report(2);
  CHECK(summary_lines(report, "PARTIAL").empty());
  report.partial = true;
  CHECK(summary_lines(report, "PARTIAL") == Lines{"PARTIAL RESULTS: the run was cut short"});
  report.partial_reason = "max-cycles";
  CHECK(summary_lines(report, "PARTIAL") == Lines{"PARTIAL RESULTS: max-cycles"});
  report.kernels[1].partial = true;
  CHECK(summary_lines(report, "PARTIAL") ==
        Lines{"PARTIAL RESULTS: max-cycles; kernels marked * did not end"});
  CHECK_THAT(to_text(report, {}), Contains(" kernel_2* ") && !Contains("kernel_1*"));
}

TEST_CASE("summary: speed is work over wall time, and not there without one") {
  HostReport host;
  host.warp_instructions = 3000;
  host.cycles = 5'000'000;
  host.peak_rss_bytes = 3 << 20;
  CHECK(summary_lines(summary_report(), "speed", host).empty());
  host.wall_seconds = 2;
  CHECK(summary_lines(summary_report(), "speed", host) ==
        Lines{"speed: 2.00 s on 1 thread, 1.50k warp inst/s, 2.50M cycles/s, 3.0 MiB memory"});
  host.threads = 2;
  CHECK_THAT(to_text(summary_report(), host), Contains("on 2 threads,"));
}

TEST_CASE("summary: a system's table says which GPU ran a launch, in that GPU's clock") {
  RunReport report = summary_report(2);
  report.system = two_devices();
  report.system->devices[1].core_khz = 500'000;
  for (KernelResult& kernel : report.kernels) kernel.cycles = 3000;
  report.kernels[1].device = 1;
  CHECK(summary_lines(report, "  0/1 kernel_1").at(0).find(" 3.00 ") != std::string::npos);
  CHECK(summary_lines(report, "  1/2 kernel_2").at(0).find(" 6.00 ") != std::string::npos);
}

TEST_CASE("microseconds have fewer decimals where they are many") {
  const std::pair<Cycle, const char*> rows[] = {
      {0, "0.00"},        {1, "0.00"},           {5'001, "5.00"},       {99'990, "99.99"},
      {100'000, "100.0"}, {9'999'900, "9999.9"}, {10'000'000, "10000"}, {123'456'789'000, "123456789"}};
  for (const auto& [cycles, text] : rows) CHECK(microseconds(cycles, 1'000'000) == text);
  CHECK(microseconds(3, 1) == "3000.0");  // of 1 kHz: a cycle is a millisecond
  CHECK(microseconds(3, 0) == "0.00");
}

}  // namespace lockstep::stats
