// `mpirun -n N lockstep exec --clock FOLDER`: an MPI program is executed again, and its clocks and events
// show the times of an earlier run of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/child.hpp"

namespace lockstep::cli {

/// What must be the same in the earlier run.
struct ShownProgram {
  std::string name;        // the trace's
  std::string system_ini;  // on which it was simulated, as config::to_ini() writes it
  unsigned processes = 0;
};

/// An earlier run, and the times of one process of it.
struct ShownRun {
  std::string folder;
  std::string trace_hash;  // as stats.json has it
  std::vector<std::uint64_t> clock_ps, event_ps;
};

/// The times of process `rank`. `folder`: that of a run's results. Throws UserError, InputError: what is
/// there is not of a whole run of that program.
[[nodiscard]] ShownRun read_shown_run(const std::string& folder, const ShownProgram& program, unsigned rank);

/// The program is shown them. `folder`: for files that it reads.
void show_times(const ShownRun& run, const std::string& folder, Start& start);

/// After the program's end: was it the same, whether or not the host's time was measured? Throws UserError.
void check_same_calls(const ShownRun& run, std::uint64_t trace_hash);

}  // namespace lockstep::cli
