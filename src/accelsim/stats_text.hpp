// A run's figures as text in Accel-Sim's names and layout, for scripts that search its output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stats/report.hpp"

namespace lockstep::accelsim {

/// What the report does not hold; each figure that needs it is absent without it.
struct TextOptions {
  std::uint64_t warps_per_subcore = 0;  // sm.max_warps / sm.subcores; 0 = not known
};

/// The blocks of a run, kernel by kernel. As there, the figures named `gpu_sim_*`, `gpu_ipc`, `gpu_occupancy`
/// and `L2_BW` are of one kernel, all others run on over the kernels. A figure that Lockstep does not have is
/// absent, never zero.
class StatsText {
 public:
  StatsText(std::uint64_t core_khz, const TextOptions& options) : core_khz_(core_khz), options_(options) {}

  /// The next kernel, in the order of completion. `wall_seconds`: of the run so far, for the lines on speed.
  [[nodiscard]] std::string kernel(const stats::KernelResult& kernel,
                                   std::optional<double> wall_seconds = std::nullopt);

  /// What stands at the end of a run that reached the end of its trace; scripts look for it.
  [[nodiscard]] static std::string end();

 private:
  std::uint64_t core_khz_;
  TextOptions options_;
  Cycle cycles_ = 0;
  stats::KernelCounters total_;
};

/// All finished kernels of a report, and the end where it is not partial. The same bytes for equal reports.
[[nodiscard]] std::string accelsim_text(const stats::RunReport& report, const TextOptions& options = {});

/// The part of docs/accelsim.md on these figures, generated.
[[nodiscard]] std::string stats_markdown();

}  // namespace lockstep::accelsim
