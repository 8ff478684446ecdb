// Result folders whose statistics are made by hand, on a V100 with a clock of 1 GHz: a cycle is a nanosecond.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "config/config.hpp"
#include "report/run.hpp"
#include "stats/files.hpp"
#include "stats/report.hpp"
#include "tests/temporary_folder.hpp"
#include "util/error.hpp"

namespace lockstep::report {

using Statistics = nlohmann::ordered_json;

inline config::GpuConfig one_gigahertz() {
  config::GpuConfig machine = config::resolve("v100");
  machine.clock.core_khz = 1'000'000;
  return machine;
}

inline stats::KernelResult kernel_of(const std::string& name, std::uint64_t id, Cycle cycles) {
  stats::KernelResult kernel;
  kernel.name = name;
  kernel.id = id;
  kernel.grid = kernel.block = {1, 1, 1};
  kernel.cycles = cycles;
  kernel.subcores = 320;  // 80 SMs of 4
  kernel.counters.sm.warp_instructions = 1;
  return kernel;
}

/// A run of 1 ms.
inline stats::RunReport report_of(const config::GpuConfig& machine) {
  stats::RunReport report;
  report.version = "1";
  report.gpu = "v100";
  report.config_hash = config::hash(machine);
  report.core_khz = machine.clock.core_khz;
  report.total_cycles = 1'000'000;
  report.kernels = {kernel_of("k", 1, 1000)};
  return report;
}

/// A folder with these results; `change`: of stats.json.
class HandMade {
 public:
  explicit HandMade(const stats::RunReport& report, const config::GpuConfig& machine = one_gigahertz()) {
    stats::write_outputs(path(), report, {});
    stats::write_file(path() + "/config.ini", config::to_ini(machine));
  }
  [[nodiscard]] std::string path() const { return (folder_.path() / "out").string(); }
  template <class Change>
  void change(Change change) const {
    Statistics json = Statistics::parse(stats::read_file(path() + "/stats.json"));
    change(json);
    stats::write_file(path() + "/stats.json", json.dump());
  }
  [[nodiscard]] std::string error() const {
    try {
      (void)load(path());
    } catch (const UserError& e) {
      return e.what();
    }
    return "no error";
  }

 private:
  test::TemporaryFolder folder_;
};

inline std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace lockstep::report
