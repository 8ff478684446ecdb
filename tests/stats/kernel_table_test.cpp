// The summary's table of kernels, cell by cell.
#include "stats/kernel_table.hpp"

#include <catch2/catch.hpp>
#include <sstream>

#include "tests/stats/samples.hpp"

namespace lockstep::stats {
namespace {

using Cells = std::vector<std::string>;

/// The words of each line.
std::vector<Cells> cells_of(const std::string& text) {
  std::vector<Cells> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Cells& cells = lines.emplace_back();
    for (std::string word; words >> word;) cells.push_back(word);
  }
  return lines;
}

/// `cycles` at 1 GHz on 4 sub-cores.
KernelResult table_launch(std::uint64_t id, const std::string& name, Cycle cycles) {
  KernelResult kernel;
  kernel.id = id;
  kernel.name = name;
  kernel.cycles = cycles;
  kernel.subcores = 4;
  return kernel;
}

RunReport clocked(std::vector<KernelResult> kernels) {
  RunReport report;
  report.core_khz = 1'000'000;
  report.kernels = std::move(kernels);
  return report;
}

void set_stall(KernelResult& kernel, Stall reason, std::uint64_t cycles) {
  kernel.counters.sm.stalls[static_cast<unsigned>(reason)] = cycles;
}

}  // namespace

TEST_CASE("kernel table: rates of one launch, worked out by hand") {
  KernelResult kernel = table_launch(5, "axpy", 2'000'000);
  auto& c = kernel.counters;
  c.sm.warp_instructions = 3'000'000;
  c.sm.l1.accesses = 3000;
  c.sm.l1.hits = 2000;
  c.mem.l2.accesses = 0;
  c.mem.dram_bytes = 1'500'000'000;
  c.sm.warp_cycles = 20'000'000;
  set_stall(kernel, Stall::kIssued, 3'000'000);
  set_stall(kernel, Stall::kLongScoreboard, 900'000);
  set_stall(kernel, Stall::kWait, 300'000);
  set_stall(kernel, Stall::kEmpty, 3'800'000);
  const auto lines = cells_of(kernel_table(clocked({kernel}), {}));
  REQUIRE(lines.size() == 3);  // two of headings
  CHECK(lines[2] == Cells{"5", "axpy", "2,000,000", "2000.0", "1.50", "66.7", "-", "750.0", "2.5",
                          "long_scoreboard", "75%"});
}

TEST_CASE("kernel table: several launches have a total, whose rates are those of all their cycles") {
  KernelResult a = table_launch(1, "a", 1000), b = table_launch(2, "b", 3000);
  a.counters.sm.warp_instructions = 1000;
  b.counters.sm.warp_instructions = 1000;
  b.counters.sm.warp_cycles = 16'000;
  a.partial = true;
  const auto lines = cells_of(kernel_table(clocked({a, b}), {}));
  REQUIRE(lines.size() == 5);
  CHECK(lines[2] == Cells{"1", "a*", "1,000", "1.00", "1.00", "-", "-", "0.0", "0.0", "-"});
  CHECK(lines[3] == Cells{"2", "b", "3,000", "3.00", "0.33", "-", "-", "0.0", "1.3", "-"});
  CHECK(lines[4] == Cells{"total", "2", "kernels", "4,000", "4.00", "0.50", "-", "-", "0.0", "1.0", "-"});
}

TEST_CASE("kernel table: from 21 launches on there is a row for each kernel, the most expensive first") {
  std::vector<KernelResult> kernels;
  for (std::uint64_t i = 0; i < 20; ++i)
    kernels.push_back(table_launch(i, i % 2 == 0 ? "even" : "odd", 100 + i));
  CHECK(cells_of(kernel_table(clocked(kernels), {})).size() == 2 + 20 + 1);
  kernels.push_back(table_launch(20, "rare", 5000));
  const auto lines = cells_of(kernel_table(clocked(kernels), {}));
  REQUIRE(lines.size() == 1 + 3 + 1 + 1);
  // even: 100, 102 ... 118; odd: 101 ... 119; all: 2190 + 5000 cycles of a nanosecond.
  CHECK(lines[1] == Cells{"rare", "1", "5.00", "69.5", "5.00", "5.00", "5.00", "0.00", "-"});
  CHECK(lines[2] == Cells{"odd", "10", "1.10", "15.3", "0.11", "0.10", "0.12", "0.00", "-"});
  CHECK(lines[3] == Cells{"even", "10", "1.09", "15.2", "0.11", "0.10", "0.12", "0.00", "-"});
  CHECK(lines[4] ==
        Cells{"total,", "3", "kernels", "21", "7.19", "100.0", "0.34", "0.10", "5.00", "0.00", "-"});
  CHECK(lines[5] == Cells{"longest", "launch:", "id", "20,", "rare,", "5.00", "us"});
  SummaryOptions all;
  all.all_launches = true;
  CHECK(cells_of(kernel_table(clocked(kernels), all)).size() == 2 + 21 + 1);
}

TEST_CASE("kernel table: fifteen kernels have rows, the share of the others is said") {
  std::vector<KernelResult> kernels;
  for (std::uint64_t i = 0; i < 25; ++i)
    kernels.push_back(table_launch(i, "kernel" + std::to_string(i), i < 10 ? 100 : 600));
  const auto lines = cells_of(kernel_table(clocked(kernels), {}));
  REQUIRE(lines.size() == 1 + 15 + 1 + 1 + 1);
  CHECK(lines[1][0] == "kernel10");  // as expensive as the next, and earlier
  CHECK(lines[15][0] == "kernel24");
  CHECK(lines[16] == Cells{"...", "10", "more", "kernels,", "10.0%", "of", "the", "time", "..."});
}

TEST_CASE("kernel table: rows are as wide as the terminal, names are cut to what is left") {
  std::vector<KernelResult> kernels{table_launch(1, std::string(200, 'k'), 1)};
  for (const unsigned columns : {20u, 100u, 120u, 1000u}) {
    SummaryOptions options;
    options.columns = columns;
    std::istringstream in(kernel_table(clocked(kernels), options));
    std::string line;
    while (std::getline(in, line)) {
      CHECK(line.size() <= std::max(columns, 84u + 14u));
      CHECK(line.size() <= 84 + 60);
    }
  }
  CHECK(kernel_table(clocked({}), {}) == "no kernel was run\n");
}

}  // namespace lockstep::stats
