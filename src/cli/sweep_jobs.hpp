// The runs of a study as jobs: checked, and named by what their results depend on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "study/plan.hpp"
#include "study/runner.hpp"
#include "study/study_file.hpp"

namespace lockstep::cli {

struct SweepJobs {
  std::vector<study::PlannedRun> runs;  // the table's rows
  std::vector<std::string> keys;        // of each run
  std::vector<study::Job> jobs;         // one for each different key, in the order in which they appear
  std::vector<std::string> names;       // readable names of the jobs: of the first run that needs each
};

/// Reads the options, configurations and traces of all runs, as `lockstep run` and `exec` would, in the
/// current folder. Runs of the same trace or program, configuration, options and version of this program have
/// one key. Throws InputError naming the study's file and line, the run and what is wrong with it.
[[nodiscard]] SweepJobs sweep_jobs(const study::Study& study);

}  // namespace lockstep::cli
