// The page: whole, self-contained, escaped, the same for equal runs; and errors for folders that are no runs.
#include "report/page.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "plot/ticks.hpp"
#include "report/sections.hpp"
#include "stats/text.hpp"
#include "tests/report/folder.hpp"
#include "util/error.hpp"

namespace lockstep::report {
namespace {

gpu::RunOptions with_intervals() {
  gpu::RunOptions options = small_options(4);
  options.interval = 500;
  return options;
}

std::string page_of(const std::string& folder) {
  std::vector<Run> runs;
  runs.push_back(load(folder));
  return page(runs);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string error_of_folder(const std::string& folder) {
  try {
    (void)load(folder);
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

/// Tags that are opened and closed, as a stack; returns what is wrong, or "".
std::string unbalanced(const std::string& html) {
  std::vector<std::string> open;
  const std::vector<std::string> single{"meta", "br", "!DOCTYPE"};
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    const std::string tag = html.substr(at + 1, end - at - 1);
    const bool closing = tag[0] == '/';
    const std::size_t start = closing ? 1 : 0;
    const std::string name = tag.substr(start, tag.find_first_of(" \n/", start) - start);
    if (name == "script" && !closing) at = html.find("</script", at) - 1;  // not its content
    if (tag.back() == '/' || std::find(single.begin(), single.end(), name) != single.end()) continue;
    if (!closing) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> where " + (open.empty() ? "nothing" : open.back()) + " is open";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " is left open";
}

}  // namespace

TEST_CASE("a page has every part, and needs no other file") {
  const ResultFolder folder("sgemm", {{"tiles-x", "2"}, {"tiles-y", "2"}}, with_intervals());
  const std::string html = page_of(folder.path());
  for (const char* part : {"Where the time goes", "Roofline", "What sub-cores did in each cycle", "Over time",
                           "Occupancy", "By sub-core", "sub-core 3", "Instruction mix", "Bandwidth",
                           ">Power<", "Instructions", "LDS", "FFMA", "Copies and fills"})
    CHECK(has(html, part));
  for (const char* remote : {"http://", "https://", "src=", "@import", "url("}) {
    std::string rest = html;
    for (std::string ns = "http://www.w3.org/2000/svg"; has(rest, ns);) rest.erase(rest.find(ns), ns.size());
    INFO(remote);
    CHECK_FALSE(has(rest, remote));
  }
  CHECK(unbalanced(html) == "");
}

TEST_CASE("power over time is the energy of each interval over its time") {
  gpu::RunOptions options = with_intervals();
  options.interval = 1'000'000;  // one, of the whole run
  const ResultFolder folder("sgemm", {{"tiles-x", "2"}, {"tiles-y", "2"}}, options);
  const Run run = load(folder.path());
  REQUIRE(run.intervals.rows.size() == 1);
  const auto& row = run.intervals.rows[0];
  // As the statistics have it for the interval, whose middle is at half of its cycles.
  const double watts = row[run.intervals.column("energy.average_mw")] / 1000;
  REQUIRE(watts > 1);
  CHECK(has(page_of(folder.path()),
            fmt::format("<title>{}, {:.4g} W</title>", plot::number(row[0] / 2), watts)));
  // A GPU without coefficients has no such chart.
  options.config.energy.source = "none";
  const ResultFolder without("sgemm", {{"tiles-x", "2"}, {"tiles-y", "2"}}, options);
  CHECK_FALSE(has(page_of(without.path()), ">Power<"));
}

TEST_CASE("equal runs give equal pages") {
  const ResultFolder folder("mixed", {}, with_intervals());
  CHECK(page_of(folder.path()) == page_of(folder.path()));
}

TEST_CASE("without --profile and --interval there is a page without these parts") {
  const ResultFolder folder("streaming", {{"ctas", "8"}}, small_options(4, false));
  const std::string html = page_of(folder.path());
  CHECK(has(html, "Roofline"));
  CHECK_FALSE(has(html, "Over time"));
  CHECK_FALSE(has(html, "machine instruction"));
  CHECK(unbalanced(html) == "");
}

TEST_CASE("source lines of a trace that has them are added up") {
  const ResultFolder folder("chain", {{"iterations", "2"}, {"line-info", "1"}}, small_options(4));
  const Run run = load(folder.path());
  REQUIRE(run.profile);
  const auto& code = run.profile->codes.at(0).instructions;
  CHECK(std::all_of(code.begin(), code.end(), [](const auto& i) { return i.source_line > 0; }));
  CHECK(has(page_of(folder.path()), "Source lines"));
}

TEST_CASE("names from a trace are escaped") {
  const ResultFolder folder(
      [](const std::string& path) {
        synth::synthesize("streaming", {{"ctas", "4"}}, path);
        std::ifstream in(path + "/kernel-1.traceg");
        std::string text((std::istreambuf_iterator<char>(in)), {});
        const std::string name = "_Z9vectorAddPKfS0_Pfi";
        text.replace(text.find(name), name.size(), "a<script>alert(1)</script>&b");
        std::ofstream(path + "/kernel-1.traceg") << text;
      },
      small_options(4));
  const std::string html = page_of(folder.path());
  CHECK_FALSE(has(html, "<script>alert"));
  CHECK(has(html, "&lt;script&gt;"));
}

TEST_CASE("two runs stand side by side with their differences") {
  const ResultFolder a("streaming", {{"ctas", "64"}}, small_options(4));
  gpu::RunOptions slower = small_options(4);
  slower.config.l1.hit_latency += 100;
  const ResultFolder b("streaming", {{"ctas", "64"}}, slower);
  std::vector<Run> runs;
  runs.push_back(load(a.path()));
  runs.push_back(load(b.path()));
  const std::string html = page(runs);
  CHECK(unbalanced(html) == "");
  const double ns_a = runs[0].kernels[0].values.number("time_ns"),
               ns_b = runs[1].kernels[0].values.number("time_ns");
  REQUIRE(ns_b > ns_a);
  CHECK(has(html, fmt::format("{:+.1f} %", 100 * (ns_b / ns_a - 1))));
  CHECK(has(html, "1 of 1 kernels of A and 1 of B are in both"));
  for (const char* anchor : {"kernel-1", "b-kernel-1"}) {  // each is there once, and linked to
    const std::string id = fmt::format("id=\"{}\"", anchor);
    CHECK(has(html, fmt::format("href=\"#{}\"", anchor)));
    REQUIRE(has(html, id));
    CHECK(html.find(id) == html.rfind(id));
  }
}

TEST_CASE("usage agrees with counters of the same run worked out by hand") {
  const ResultFolder folder("sgemm", {{"tiles-x", "2"}, {"tiles-y", "2"}}, small_options(4));
  const Run run = load(folder.path());
  const Values& k = run.kernels.at(0).values;
  const Usage usage = usage_of(k, run.machine);
  const double cycles = k.number("cycles");
  CHECK(usage.issue == Approx(k.number("ipc") / (4 * 4)).epsilon(1e-4));
  // V100: 32 bytes every 2 DRAM cycles on 2 channels of each of 4 partitions, 877 MHz against the core's
  // clock.
  const double peak = 4 * 2 * 32 / 2.0 * static_cast<double>(run.machine.clock.dram_khz) /
                      static_cast<double>(run.machine.clock.core_khz);  // bytes a core cycle
  CHECK(usage.dram == Approx(k.number("dram.bytes") / (peak * cycles)));
  double sum = 0;
  for (const double share : usage.stalls) sum += share;
  CHECK(sum == Approx(1));
}

TEST_CASE("folders that are no runs are one clear error") {
  const test::TemporaryFolder empty;
  CHECK(has(error_of_folder(empty.path() / "none"), "no folder; expected one that `lockstep run -o`"));
  CHECK(has(error_of_folder(empty.path()), "stats.json"));
  const ResultFolder folder("chain", {{"iterations", "2"}}, small_options(2));
  const std::string stats_file = folder.path() + "/stats.json", text = stats::read_file(stats_file);

  std::string old = text;
  while (has(old, "\"pipes\"")) old.replace(old.find("\"pipes\""), 7, "\"other\"");
  stats::write_file(stats_file, old);
  const auto judged = [&] {
    try {
      (void)page_of(folder.path());
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(has(judged(), "has no \"pipes.alu\": the run is of another version of lockstep"));
  stats::write_file(stats_file, text);

  const std::string config = stats::read_file(folder.path() + "/config.ini");
  stats::remove_file(folder.path() + "/config.ini");
  CHECK(has(error_of_folder(folder.path()), "config.ini: no such file"));
  stats::write_file(folder.path() + "/config.ini", config::to_ini(config::resolve("a100")));
  CHECK(has(error_of_folder(folder.path()), "expected that of stats.json"));
  stats::write_file(folder.path() + "/config.ini", config);

  std::string profile = stats::read_file(folder.path() + "/profile.json");
  profile.replace(profile.find("\"hash\":\"") + 8, 4, "zzzz");
  stats::write_file(folder.path() + "/profile.json", profile);
  CHECK(has(error_of_folder(folder.path()), "profile of another run"));
}

}  // namespace lockstep::report
