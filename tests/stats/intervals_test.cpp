// Time series and energies of random reports in every file, worked out again here.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "stats/derived.hpp"
#include "stats/descriptors.hpp"
#include "stats/report.hpp"
#include "tests/random.hpp"
#include "tests/stats/samples.hpp"

namespace lockstep::stats {
namespace {

using test::Random32;
using IntervalJson = nlohmann::json;
using CsvCells = std::vector<std::string>;

EnergyParts random_energy(Random32& random) {
  EnergyParts parts;
  for (std::uint64_t& pj : parts.picojoules) pj = std::uint64_t{random()} * (1 + random() % 1000);
  return parts;
}

RunReport with_intervals(Random32& random, bool energy) {
  RunReport report = sample_report(1 + random() % 3);
  report.core_khz = 500'000 + random() % 2'000'000;
  for (KernelResult& kernel : report.kernels)
    if (energy) kernel.energy = random_energy(random);
  Cycle end = 0;
  for (auto n = 1 + random() % 8; n > 0; --n) {
    IntervalSample sample;
    sample.end_cycle = end += random() % 5 == 0 ? 0 : 1 + random() % 100'000;
    sample.counters = sample_kernel(1, random()).counters;
    if (energy) sample.energy = random_energy(random);
    report.intervals.push_back(sample);
  }
  return report;
}

std::vector<CsvCells> csv_cells_of(const std::string& csv) {
  std::vector<CsvCells> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream cells(line + ",");
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

/// Picojoules over cycles of a clock, in mW to the nearest whole one; 0 of no time.
std::string mean_milliwatts(std::uint64_t picojoules, Cycle cycles, std::uint64_t khz) {
  if (cycles == 0) return "0";
  // pJ / (cycles / kHz ms) = pJ * kHz / cycles nW
  const long double nanowatts =
      static_cast<long double>(picojoules) * static_cast<long double>(khz) / static_cast<long double>(cycles);
  return fmt::format("{:.0f}", static_cast<double>(std::floor(nanowatts / 1e6L + 0.5L)));
}

}  // namespace

TEST_CASE("intervals: rows of random series have their counters, energy and mean power, in both files") {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Random32 random(seed);
    const bool energy = seed % 2 == 0;
    const RunReport report = with_intervals(random, energy);
    const auto rows = csv_cells_of(intervals_csv(report));
    const IntervalJson series = IntervalJson::parse(to_json(report)).at("intervals");
    REQUIRE(rows.size() == report.intervals.size() + 1);
    REQUIRE(series.at("rows").size() == report.intervals.size());
    CHECK(series.at("columns") == IntervalJson(rows[0]));
    CHECK(rows[0].size() == 1 + descriptors().size() + (energy ? 2 : 0));
    Cycle begin = 0;
    for (std::size_t i = 0; i < report.intervals.size(); ++i) {
      const IntervalSample& sample = report.intervals[i];
      CsvCells expected{std::to_string(sample.end_cycle)};
      for (const Descriptor& d : descriptors()) expected.push_back(std::to_string(value(sample.counters, d)));
      if (energy) {
        std::uint64_t sum = 0;
        for (const std::uint64_t pj : sample.energy->picojoules) sum += pj;
        expected.push_back(std::to_string(sum));
        expected.push_back(mean_milliwatts(sum, sample.end_cycle - begin, report.core_khz));
      }
      begin = sample.end_cycle;
      REQUIRE(rows[i + 1] == expected);
      const IntervalJson& row = series.at("rows")[i];
      REQUIRE(row.size() == expected.size());
      for (std::size_t c = 0; c < row.size(); ++c) REQUIRE(row[c].dump() == expected[c]);
    }
  }
}

TEST_CASE("intervals: a report without any has no such part and no row") {
  const RunReport report = sample_report();
  CHECK_FALSE(IntervalJson::parse(to_json(report)).contains("intervals"));
  CHECK(csv_cells_of(intervals_csv(report)).size() == 1);
}

TEST_CASE("energy: parts, sum and power of kernels and their total are those of the parts") {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Random32 random(seed);
    RunReport report = with_intervals(random, true);
    if (seed % 4 == 0) report.kernels[0].energy.reset();  // of a device without coefficients
    const IntervalJson root = IntervalJson::parse(to_json(report));
    EnergyParts all;
    Cycle cycles = 0;
    for (std::size_t k = 0; k < report.kernels.size(); ++k) {
      const KernelResult& kernel = report.kernels[k];
      cycles += kernel.cycles;
      const IntervalJson& json = root.at("kernels")[k];
      CHECK(json.contains("energy") == kernel.energy.has_value());
      if (!kernel.energy) continue;
      std::uint64_t sum = 0;
      for (unsigned p = 0; p < kEnergyParts; ++p) {
        const std::uint64_t pj = kernel.energy->picojoules[p];
        CHECK(json.at("energy").at(std::string(energy_rows()[p].name) + "_pj") == pj);
        sum += pj;
        all.picojoules[p] += pj;
      }
      CHECK(json.at("energy").at("total_pj") == sum);
      CHECK(json.at("energy").at("average_mw").dump() ==
            mean_milliwatts(sum, kernel.cycles, report.core_khz));
      CHECK(json.at("energy").size() == kEnergyParts + 2);
    }
    if (all == EnergyParts{}) continue;
    const IntervalJson& total = root.at("total").at("energy");
    for (unsigned p = 0; p < kEnergyParts; ++p)
      CHECK(total.at(std::string(energy_rows()[p].name) + "_pj") == all.picojoules[p]);
    CHECK(total.at("average_mw").dump() == mean_milliwatts(all.total(), cycles, report.core_khz));
  }
}

}  // namespace lockstep::stats
