#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "cli/host.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/results.hpp"
#include "cli/run_options.hpp"
#include "tests/cli/program.hpp"
#include "util/error.hpp"

namespace lockstep::cli {

TEST_CASE("suggestions are near or not made") {
  const std::vector<std::string> names{"run", "info", "config", "compare"};
  CHECK(did_you_mean("cofnig", names) == "; did you mean 'config'?");
  CHECK(did_you_mean("compere", names) == "; did you mean 'compare'?");
  CHECK(did_you_mean("frobnicate", names).empty());
  CHECK(did_you_mean(std::string(100000, 'x'), names).empty());
}

TEST_CASE("numbers are whole and in range") {
  CHECK(parse_number("x", "18446744073709551615", 0, ~std::uint64_t{0}) == ~std::uint64_t{0});
  for (const char* bad : {"", " 1", "1 ", "+1", "0x10", "1e3", "18446744073709551616", "11"}) {
    CHECK_THROWS_AS(parse_number("x", bad, 0, 10), UserError);
  }
  CHECK(parse_fraction("x", "0.25") == 0.25);
  for (const char* bad : {"", "-1", "inf", "nan", "1%", "x"})
    CHECK_THROWS_AS(parse_fraction("x", bad), UserError);
}

TEST_CASE("kernel lists") {
  using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  CHECK(parse_kernels("3,7-9") == Ranges{{3, 3}, {7, 9}});
  CHECK(parse_kernels("0") == Ranges{{0, 0}});
  for (const char* bad : {"", ",", "3,", "-3", "3-", "9-7", "a"})
    CHECK_THROWS_AS(parse_kernels(bad), UserError);
}

TEST_CASE("the fraction done counts CTAs of all kernels") {
  const std::vector<std::uint64_t> before{0, 100, 400};
  gpu::Progress progress;
  CHECK(fraction_done(progress, before) == 0);
  progress.ctas_done = 50;
  CHECK(fraction_done(progress, before) == 0.125);
  progress.kernels_done = 1;
  progress.ctas_done = 100;
  CHECK(fraction_done(progress, before) == 0.5);
  progress.kernels_done = 2;
  progress.ctas_done = 0;
  CHECK(fraction_done(progress, before) == 1);
  progress.kernels_done = 9;
  CHECK(fraction_done(progress, before) == 1);
  CHECK(fraction_done(progress, {0}) == 0);
}

TEST_CASE("the progress line has kernel, CTAs, cycles, speed and time left") {
  gpu::Progress progress;
  progress.kernel = "_Z9vectorAddPKfS0_Pfi";
  progress.kernels_done = 2;
  progress.kernels_total = 16;
  progress.ctas_done = 12;
  progress.ctas_total = 32;
  progress.cycle = 45120;
  progress.warp_instructions = 2'400'000;
  CHECK(progress_line(progress, 2, 0.25) ==
        "kernel 3/16 vectorAdd  CTA 12/32  cycle 45,120  1.20M warp inst/s  25%  0:06 left");
  CHECK(progress_line(progress, 0.5, 0.25).find("left") == std::string::npos);
  CHECK(progress_line(progress, 7200, 0.5).find("2:00:00 left") != std::string::npos);
}

TEST_CASE("a line says what a program executes, and how fast") {
  cuda::Execution execution;
  CHECK(execution_line(execution, 0) == "the program runs, no kernel yet");
  execution.kernel = "_Z9vectorAddPKfS0_Pfi";
  execution.launch = 3;
  execution.running = true;
  execution.ctas = 64;
  execution.ctas_done = 5;
  execution.thread_instructions = 1'200'000'000;
  CHECK(execution_line(execution, 230e6) ==
        "executing kernel 3 vectorAdd  CTA 5/64  1.20G thread inst  230M thread inst/s");
  execution.running = false;
  CHECK(execution_line(execution, 0) == "the program runs, last kernel 3 vectorAdd");
}

TEST_CASE("progress updates one line on a terminal and clears it") {
  int master = -1, slave = -1;
  if (openpty(&master, &slave, nullptr, nullptr, nullptr) != 0) return;  // no terminals on this machine
  setenv("TERM", "xterm", 1);
  std::FILE* out = fdopen(slave, "w");
  {
    ProgressPrinter printer(out, {0, 10});
    gpu::Progress progress;
    progress.kernels_total = 1;
    printer.update(progress);
    progress.ctas_done = 5;
    printer.update(progress);
    printer.finish();
  }
  std::fclose(out);
  std::string shown;
  char text[4096];
  for (ssize_t length; (length = read(master, text, sizeof text)) > 0;) {
    shown.append(text, static_cast<std::size_t>(length));
  }
  CHECK(shown.find('\n') == std::string::npos);
  CHECK(shown.find("50%") != std::string::npos);
  CHECK(shown.substr(shown.size() - 4) == "\r\033[K");
  close(master);
}

TEST_CASE("progress in a log waits ten seconds before its first line") {
  const Folder folder;
  std::FILE* out = std::fopen((folder / "log").c_str(), "w");
  ProgressPrinter printer(out, {0, 10});
  gpu::Progress progress;
  progress.kernels_total = 1;
  cuda::Execution execution;
  for (int i = 0; i < 1000; ++i) {
    printer.update(progress);
    printer.update(execution);
  }
  printer.finish();
  std::fclose(out);
  CHECK(slurp(folder / "log").empty());
}

TEST_CASE("there is at least one core and one thread") {
  CHECK(affinity_cores() >= 1);
  CHECK(default_threads() >= 1);
  CHECK(default_threads() <= kMaxThreads);
}

namespace {
stats::RunReport report_of(unsigned kernels) {
  stats::RunReport report;
  report.gpu = "v100";
  for (unsigned i = 0; i < kernels; ++i) {
    report.kernels.emplace_back();
    report.kernels.back().id = i + 1;
  }
  return report;
}
const ResultFolder::Complete kNothing = [](stats::RunReport&, stats::HostReport&) {};
}  // namespace

TEST_CASE("results of a run under way are written, then not too often, and kept on an error") {
  const Folder folder;
  spill(folder / "stats.json", "of an earlier run");
  spill(folder / "deadlock.txt", "of an earlier run");
  ResultFolder results(folder.path(), "[gpu]\n", "", ResultFolder::Clock::duration::zero());
  CHECK(!std::filesystem::exists(folder / "stats.json"));
  CHECK(!std::filesystem::exists(folder / "deadlock.txt"));
  results.update(report_of(1), kNothing);
  const std::string first = slurp(folder / "stats.json");
  CHECK_THAT(first, Catch::Contains("\"partial\":true,\"partial_reason\":\"running\""));
  results.update(report_of(2), kNothing);
  CHECK(slurp(folder / "stats.json") == first);
  results.abandon(kNothing);
  const std::string last = slurp(folder / "stats.json");
  CHECK_THAT(last, Catch::Contains("\"partial\":true,\"partial_reason\":\"error\""));
  stats::RunReport expected = report_of(2);
  expected.partial = true;
  expected.partial_reason = "error";
  CHECK(last == stats::to_json(expected));
}

TEST_CASE("a run that has just begun is not written yet") {
  const Folder folder;
  ResultFolder results(folder.path(), "[gpu]\n", "", std::chrono::hours(1));
  CHECK(std::filesystem::exists(folder / "config.ini"));
  results.update(report_of(1), kNothing);
  CHECK(!std::filesystem::exists(folder / "stats.json"));
  results.finish(report_of(1), {}, "");
  CHECK(slurp(folder / "stats.json") == stats::to_json(report_of(1)));
}

TEST_CASE("no folder, no files") {
  ResultFolder results("", "[gpu]\n");
  results.update(report_of(1), kNothing);
  results.abandon(kNothing);
  results.finish(report_of(1), {}, "dump");
  CHECK(!std::filesystem::exists("/stats.json"));
}

}  // namespace lockstep::cli
