// Energy in the results of whole runs.
#include <catch2/catch.hpp>
#include <cmath>

#include "end_to_end.hpp"
#include "energy/model.hpp"

namespace lockstep::test {
namespace {

gpu::RunOptions options_for(const config::GpuConfig& config, Cycle interval) {
  gpu::RunOptions options;
  options.config = config;
  options.interval = interval;
  return options;
}

std::uint64_t part(const stats::EnergyParts& energy, stats::EnergyPart which) {
  return energy.picojoules[static_cast<unsigned>(which)];
}

}  // namespace

TEST_CASE("a kernel's energy follows from its counters and cycles alone") {
  const config::GpuConfig config = small_gpu("v100");
  const energy::Model model(config);
  for (const std::size_t i : {0u, 1u, 4u}) {
    const OpenTrace trace(small_traces().at(i));
    const auto report = gpu::simulate(*trace, options_for(config, 0)).report;
    CHECK(report.energy_source == config.energy.source);
    for (const stats::KernelResult& kernel : report.kernels) {
      INFO(trace->name() << ", " << kernel.name);
      REQUIRE(kernel.energy);
      CHECK(*kernel.energy == *model.of(kernel.counters, kernel.cycles));
      CHECK(part(*kernel.energy, stats::EnergyPart::kInstructions) > 0);
      // Lanes by unit are those that the trace has.
      std::uint64_t lanes = 0;
      for (const std::uint64_t n : kernel.counters.sm.lanes) lanes += n;
      CHECK(lanes == kernel.counters.sm.thread_instructions);
    }
  }
}

TEST_CASE("lanes by unit are those of the trace, counted apart") {
  const OpenTrace trace(small_traces().at(1));
  const auto report = gpu::simulate(*trace, options_for(small_gpu("v100"), 0)).report;
  REQUIRE(report.kernels.size() == 1);
  CHECK(report.kernels[0].counters.sm.thread_instructions == count_instructions(*trace, 0).thread);
  CHECK(report.kernels[0].counters.sm.lanes[static_cast<unsigned>(stats::UnitClass::kFpMultiply)] > 0);
}

TEST_CASE("the samples of a run add up to its time and its events") {
  const config::GpuConfig config = small_gpu("v100");
  const OpenTrace trace(small_traces().at(4));
  const auto report = gpu::simulate(*trace, options_for(config, 500)).report;
  REQUIRE(report.intervals.size() > 3);
  stats::EnergyParts sum;
  stats::KernelCounters counted;
  for (const stats::IntervalSample& sample : report.intervals) {
    REQUIRE(sample.energy);
    sum += *sample.energy;
    stats::add(counted, sample.counters);
  }
  const Cycle end = report.intervals.back().end_cycle;
  const auto expected = energy::Model(config).of(counted, end);
  const auto n = static_cast<double>(report.intervals.size());
  for (unsigned i = 0; i < stats::kEnergyParts; ++i) {
    if (i == static_cast<unsigned>(stats::EnergyPart::kActiveSms)) continue;  // mean lanes differ by sample
    INFO(stats::energy_rows()[i].name);
    CHECK(static_cast<double>(sum.picojoules[i]) ==
          Approx(static_cast<double>(expected->picojoules[i])).epsilon(0).margin(n));
  }
  const double seconds = static_cast<double>(end) / (static_cast<double>(config.clock.core_khz) * 1000);
  CHECK(static_cast<double>(part(sum, stats::EnergyPart::kBoard)) ==
        Approx(config.energy.board_power * seconds * 1e6).epsilon(0).margin(n));
}

TEST_CASE("energy is the same for any threads and windows") {
  const OpenTrace trace(small_traces().at(4));
  gpu::RunOptions options = options_for(small_gpu("v100"), 700);
  const auto text = [&] {
    const auto report = gpu::simulate(*trace, options).report;
    return stats::to_json(report) + stats::to_csv(report) + stats::intervals_csv(report);
  };
  const std::string expected = text();
  CHECK_THAT(expected, Catch::Contains("\"energy\":{\"total_pj\":"));
  for (const unsigned threads : {2u, 3u})
    for (const Cycle window : {0u, 1u, 7u}) {
      options.threads = threads;
      options.window = window;
      CHECK((text() == expected));
    }
}

TEST_CASE("a device without coefficients has no energy") {
  const OpenTrace trace(small_traces().at(0));
  const auto report = gpu::simulate(*trace, options_for(small_gpu("a100"), 500)).report;
  CHECK(report.energy_source == "none");
  CHECK_FALSE(report.kernels.at(0).energy);
  REQUIRE_FALSE(report.intervals.empty());
  CHECK_FALSE(report.intervals[0].energy);
}

}  // namespace lockstep::test
