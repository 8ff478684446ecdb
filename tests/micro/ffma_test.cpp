// One warp of dependent FFMA on an H100 PCIe, and many.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "micro.hpp"
#include "paths.hpp"

namespace lockstep::test {
namespace {

struct Measured {
  unsigned iterations;
  double cycles;  // under ncu at 1.1 GHz (cycles over time)
};
/// H100 PCIe, rows "ffmakernel" with one CTA of 32 threads (h100_pcie_kernels.csv of the project's facts).
constexpr Measured kMeasured[] = {{10, 9576}, {20, 14781}, {30, 20028}, {40, 25446}};
constexpr const char* kNcuClock = "core.clock_mhz=1100";
constexpr double kIteration = 132;  // warp instructions
/// The intercept of the empty-kernel rows under ncu. It contains the life of an empty CTA, which the model
/// counts too: kOwn cycles (see launch_test.cpp).
constexpr double kNcuFloor = 3950, kOwn = 120;

template <class Modelled>
void check_against_hardware(Modelled modelled) {
  for (const Measured& m : kMeasured) {
    INFO(m.iterations << " iterations");
    CHECK(modelled(m.iterations) + kNcuFloor == Approx(m.cycles).epsilon(0.05));
    // The 4 KiB of its code lie in the half of the L2 that is near to it; where they lay is not known.
    CHECK(modelled(m.iterations) + kNcuFloor - kOwn == Approx(m.cycles).epsilon(0.035));
  }
  const auto slope = [](double low, double high) { return (high - low) / 30 / kIteration; };
  const double measured = slope(kMeasured[0].cycles, kMeasured[3].cycles);
  CHECK(measured == Approx(4.01).epsilon(0.001));
  CHECK(slope(modelled(10), modelled(40)) == Approx(measured).epsilon(0.02));
}

TEST_CASE("a chain of dependent FFMA takes as long as on the H100") {
  const Micro h100(config::resolve("h100_pcie", {kNcuClock}));
  check_against_hardware([&](unsigned iterations) {
    return h100.cycles("ffma", {{"iterations", std::to_string(iterations)}});
  });
}

TEST_CASE("the traces from the H100 take as long as on it") {
  const std::filesystem::path traces = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "../shared/traces";
  if (!std::filesystem::exists(traces)) {
    WARN("no traces in ../shared: skipped");
    return;
  }
  check_against_hardware([&](unsigned iterations) {
    const auto trace = trace::open_trace((traces / ("ffma-h100-" + std::to_string(iterations))).string());
    gpu::RunOptions options;
    options.config = config::resolve("h100_pcie", {kNcuClock});
    return static_cast<double>(gpu::simulate(*trace, options).report.kernels.at(0).cycles);
  });
}

struct Many {
  unsigned ctas;
  double cycles;
};
/// Rows "ffmakernel-large-large": CTAs of 128 threads, 10 iterations. A sub-core gets a warp of each CTA of
/// its SM; four dependent chains fill its issue slot, so that warps run in groups of four.
constexpr Many kMany[] = {{200, 9593},   {400, 9805},   {600, 15070},
                          {1000, 19672}, {1200, 20488}, {1800, 26233}};

void check_many(const Micro& h100, const Many& m, unsigned ctas) {
  INFO(m.ctas << " CTAs");
  const double model =
      h100.cycles("ffma", {{"ctas", std::to_string(ctas)}, {"threads", "128"}, {"iterations", "10"}});
  CHECK(model + kNcuFloor - kOwn == Approx(m.cycles).epsilon(0.05));
}

TEST_CASE("many dependent chains run in groups of four a sub-core, as on the H100") {
  constexpr unsigned kSms = 114;
  const Micro h100("h100_pcie", {kNcuClock});
  for (const Many& m : kMany) check_many(h100, m, h100.config().gpu.sms * ((m.ctas + kSms - 1) / kSms));
}

TEST_CASE("many dependent chains on the whole GPU", "[slow]") {
  const Micro h100(config::resolve("h100_pcie", {kNcuClock}));
  for (const Many& m : kMany) check_many(h100, m, m.ctas);
}

}  // namespace
}  // namespace lockstep::test
