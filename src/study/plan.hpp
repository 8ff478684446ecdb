// The runs of a study: the product of its workloads and axes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "study/study_file.hpp"

namespace lockstep::study {

/// One row of the study's table.
struct PlannedRun {
  std::size_t workload = 0;
  std::vector<std::size_t> points;  // one for each axis
  Settings settings;                // those of study, workload and points combined
};

/// Workload by workload, the last axis varying fastest.
[[nodiscard]] std::vector<PlannedRun> plan(const Study& study);

/// The arguments of `lockstep` for the run: "run" or "exec", the options, and the trace or program;
/// without the folder for results and the number of threads.
[[nodiscard]] std::vector<std::string> arguments_of(const Study& study, const PlannedRun& run);

/// A readable name: "sgemm, core_mhz 500, l1 32".
[[nodiscard]] std::string description(const Study& study, const PlannedRun& run);

}  // namespace lockstep::study
