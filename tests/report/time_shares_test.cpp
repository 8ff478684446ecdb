// Where a run's time goes, against a computation that looks at each cycle by itself.
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "report/diagnosis.hpp"
#include "tests/report/hand_made.hpp"

namespace lockstep::report {
namespace {

constexpr Cycle kLength = 200;

Run run_of(const stats::RunReport& report) { return load(HandMade(report).path()); }

stats::RunReport of_length(Cycle total) {
  stats::RunReport report = report_of(one_gigahertz());
  report.kernels.clear();
  report.total_cycles = total;
  return report;
}

/// Cycle by cycle: a kernel counts before a copy, a copy before nothing.
TimeShares painted(const stats::RunReport& report) {
  std::vector<char> cycles(kLength, ' ');
  const auto paint = [&](char what, Cycle start, Cycle length) {
    for (Cycle c = start; c < start + length; ++c) cycles.at(c) = what;
  };
  for (const auto& copy : report.copies) paint('c', copy.start_cycle, copy.cycles);
  for (const auto& kernel : report.kernels) paint('k', kernel.start_cycle, kernel.cycles);
  const auto share = [&](char what) {
    return static_cast<double>(std::count(cycles.begin(), cycles.end(), what)) / double{kLength};
  };
  return {share('k'), share('c'), share(' ')};
}

}  // namespace

TEST_CASE("time shares of random kernels and copies that overlap are those of counting each cycle") {
  std::mt19937 random(17);
  for (int round = 0; round < 100; ++round) {
    stats::RunReport report = of_length(kLength);
    for (auto n = random() % 6; n > 0; --n) {
      const Cycle start = random() % kLength;
      report.kernels.push_back(kernel_of("k", n, random() % (kLength - start + 1)));
      report.kernels.back().start_cycle = start;
    }
    for (auto n = random() % 6; n > 0; --n) {
      const Cycle start = random() % kLength;
      report.copies.push_back({"fill", 0, 1, start, random() % (kLength - start + 1)});
    }
    const TimeShares shares = time_shares(run_of(report)), expected = painted(report);
    INFO(round);
    REQUIRE(shares.kernels == Approx(expected.kernels).margin(1e-12));
    REQUIRE(shares.copies == Approx(expected.copies).margin(1e-12));
    REQUIRE(shares.rest == Approx(expected.rest).margin(1e-12));
  }
}

TEST_CASE("time shares of a run without cycles are nothing") {
  const TimeShares shares = time_shares(run_of(of_length(0)));
  CHECK(shares.kernels == 0);
  CHECK(shares.copies == 0);
  CHECK(shares.rest == 0);
}

TEST_CASE("time shares: copies, or launches and the host, are what counts from half of the run on") {
  const auto what = [](Cycle kernel, Cycle copy) {
    stats::RunReport report = of_length(1000);
    report.kernels = {kernel_of("k", 1, kernel)};
    report.copies = {{"host_to_device", 0, 1, kernel, copy}};  // after it
    return diagnose_run(run_of(report));
  };
  CHECK(what(501, 499).key == "kernels");
  CHECK(what(500, 500).key == "host_link");
  CHECK(what(501, 0).key == "kernels");
  CHECK(what(500, 0).key == "launch");
  CHECK(what(0, 500).key == "host_link");  // as long as the rest: copies are named
  CHECK(what(250, 340).why ==
        "Kernels take 25 % of the run, copies without a kernel 34 %, launches and the host 41 %.");
}

TEST_CASE("time shares: paging adds up all devices, and a link is busy at most all of the time") {
  stats::RunReport report = of_length(1000);
  stats::ManagedReport managed;
  managed.counters.gmmu.faults = 3;
  report.system = {.name = "pair",
                   .devices = {{"v100", 1, 1'000'000}},
                   .links = {},
                   .network = {},
                   .managed = {managed, managed}};
  const HandMade folder(report);
  const auto paging_with = [&](double busy, double kernel) {
    folder.change([&](Statistics& json) {
      for (auto& device : json["managed"]) {
        device["read_busy_cycles"] = busy;
        device["kernel_cycles"] = kernel;
      }
    });
    return paging_of(load(folder.path()));
  };
  CHECK(paging_with(10, 40).faults == 6);
  CHECK(paging_with(10, 40).link_busy == 0.25);
  CHECK(paging_with(50, 40).link_busy == 1);
  CHECK(paging_with(50, 0).link_busy == 0);
  report.system.reset();
  CHECK(paging_of(run_of(report)).faults == 0);
}

}  // namespace lockstep::report
