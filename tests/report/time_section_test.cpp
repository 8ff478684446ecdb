// Charts over time: values of intervals that are known, and what many intervals become when they are put
// together.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <regex>
#include <set>
#include <string>

#include "report/sections.hpp"
#include "tests/report/hand_made.hpp"

namespace lockstep::report {
namespace {

struct Place {
  double x, y;
};

/// A chart of the section, by its title.
std::string chart_named(const std::string& html, const std::string& title) {
  const auto at = html.find("<title>" + title);
  if (at == std::string::npos) return "";
  const auto start = html.rfind("<svg", at);
  return html.substr(start, html.find("</svg>", at) - start);
}

/// The corners of the longest path of a chart: its first line of values.
std::vector<Place> longest_path(const std::string& svg) {
  static const std::regex kPath("<path d=\"([^\"]*)\""), kCorner("[ML]?([-0-9.]+)[ ,]([-0-9.]+)");
  std::vector<Place> longest;
  for (std::sregex_iterator path(svg.begin(), svg.end(), kPath), end; path != end; ++path) {
    const std::string data = (*path)[1];
    std::vector<Place> corners;
    for (std::sregex_iterator c(data.begin(), data.end(), kCorner); c != end; ++c)
      corners.push_back({std::stod((*c)[1]), std::stod((*c)[2])});
    if (corners.size() > longest.size()) longest = corners;
  }
  return longest;
}

stats::IntervalSample sample_of(Cycle end, std::uint64_t instructions) {
  stats::IntervalSample sample;
  sample.end_cycle = end;
  sample.counters.sm.warp_instructions = instructions;
  return sample;
}

std::string section_of(const stats::RunReport& report) { return time_section(load(HandMade(report).path())); }

}  // namespace

TEST_CASE("over time: there is nothing without intervals") {
  CHECK(section_of(report_of(one_gigahertz())).empty());
}

TEST_CASE("over time: rates are counters over an interval's own length, at its middle") {
  stats::RunReport report = report_of(one_gigahertz());
  report.intervals = {sample_of(100, 50), sample_of(400, 600)};  // 0.5 and 2 a cycle
  report.intervals[1].counters.sm.l1.accesses = 900;             // 3 sectors of 32 bytes per ns
  report.intervals[1].counters.mem.l2.accesses = 150;            // half a sector
  report.intervals[1].counters.mem.dram_bytes = 3000;
  const std::string html = section_of(report);
  const std::string ipc = chart_named(html, "Warp instructions per cycle");
  CHECK(times_in(ipc, "<title>50, 0.5</title>") == 1);
  CHECK(times_in(ipc, "<title>250, 2</title>") == 1);
  const std::string bandwidth = chart_named(html, "Bandwidth");
  CHECK(times_in(bandwidth, "250, 96 GB/s</title>") == 1);
  CHECK(times_in(bandwidth, "250, 16 GB/s</title>") == 1);
  CHECK(times_in(bandwidth, "250, 10 GB/s</title>") == 1);
  CHECK(times_in(bandwidth, "50, 0 GB/s</title>") == 3);
  CHECK(times_in(html, ">Power<") == 0);  // without energies
}

TEST_CASE("over time: a reason is there only where it has cycles, and cycles without a warp are none") {
  stats::RunReport report = report_of(one_gigahertz());
  report.intervals = {sample_of(100, 50), sample_of(200, 50)};
  report.intervals[0].counters.sm.stalls[static_cast<unsigned>(stats::Stall::kBarrier)] = 3200;
  report.intervals[1].counters.sm.stalls[static_cast<unsigned>(stats::Stall::kEmpty)] = 3200;
  const std::string stalls = chart_named(section_of(report), "What sub-cores with a warp did");
  CHECK(times_in(stalls, ">barrier<") == 1);
  for (const char* other : {">empty<", ">wait<", ">issued<", ">drain<"}) CHECK(times_in(stalls, other) == 0);
}

TEST_CASE("over time: thousands of intervals are put together in at most 600 without a change of rates") {
  std::mt19937 random(5);
  for (const std::size_t count : {599u, 600u, 601u, 1200u, 1201u, 5000u}) {
    INFO(count << " intervals");
    stats::RunReport report = report_of(one_gigahertz());
    Cycle end = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Cycle length = 1 + random() % 1000;
      end += length;
      report.intervals.push_back(sample_of(end, 3 * length));
    }
    const auto line = longest_path(chart_named(section_of(report), "Warp instructions per cycle"));
    CHECK(line.size() <= 600);
    CHECK(line.size() > 250);
    for (const Place& p : line) REQUIRE(p.y == line[0].y);  // 3 a cycle, however many are together
    CHECK(std::is_sorted(line.begin(), line.end(), [](const Place& a, const Place& b) { return a.x < b.x; }));
  }
}

TEST_CASE("over time: a column that a chart needs and the file lacks is named") {
  stats::RunReport report = report_of(one_gigahertz());
  report.intervals = {sample_of(100, 50)};
  const HandMade folder(report);
  folder.change([](Statistics& json) {
    for (auto& column : json["intervals"]["columns"])
      if (column == "l2.accesses") column = "other";
  });
  const Run run = load(folder.path());
  CHECK_THROWS_WITH(time_section(run),
                    folder.path() + "/stats.json: \"intervals\" has no column \"l2.accesses\"");
}

}  // namespace lockstep::report
