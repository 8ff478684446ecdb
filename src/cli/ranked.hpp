// A command that mpirun or srun has started several times, for one simulation.
#pragma once

#include <functional>
#include <string>

#include "cli/run_options.hpp"
#include "ranks/group.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::cli {

/// Performs `command` with the ranks of which this process is one, or with null where it is alone. One rank
/// prints the error of whichever failed; only the first writes to standard output. Returns the exit code,
/// which is the same in all.
int as_rank(const std::function<int(ranks::Group*)>& command);

/// Before the run of one of several ranks: selects its devices; only the first rank writes results.
/// Throws UserError where the ranks differ in what they are to simulate, or cannot do it together.
void prepare_rank(RunArguments& arguments, const trace::TraceSet& trace, ranks::Group& group);

/// For commands that do not support ranks: where this process is one of several, prints an error and returns
/// true.
[[nodiscard]] bool refuse_ranks(const std::string& command, const std::string& instead);

}  // namespace lockstep::cli
