// `mpirun -n N lockstep exec`: a process of an MPI program. The program's own MPI moves its data; what each
// process has called and launched is joined into one recording, which the first process simulates.
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <optional>
#include <string>

#include "cli/child.hpp"
#include "cli/run_options.hpp"
#include "messages/schedule.hpp"

namespace lockstep::cli {

/// What mpirun or srun says of this process.
struct MpiJob {
  unsigned rank = 0, size = 0;
  std::string name;  // the same in all processes, and in no other job of the machine
};

/// Nothing where this process was started alone, or where the program was built without MPI.
[[nodiscard]] std::optional<MpiJob> mpi_job();

/// What is wrong for all processes alike is said by the first one alone.
[[nodiscard]] int as_process(const MpiJob& job, const std::function<int()>& command);

struct MpiOptions {
  messages::Protocol protocol;
  std::string host_time;  // the factor; empty: host computation takes no time
  std::string folder;     // that all processes see; empty: one of this machine
  std::string shown;      // results of an earlier run, whose times the program is shown; empty: none
  bool keeps = false;     // the recording
};

void add_mpi_options(boost::program_options::options_description& options);
/// Where there is no MPI program to simulate. Throws UserError if one of them is given.
void refuse_mpi_options(const boost::program_options::variables_map& values);
/// Throws UserError.
[[nodiscard]] MpiOptions mpi_options(const boost::program_options::variables_map& values);

/// Executes the program's process, and in the first one simulates all to the end; or, where an earlier run is
/// shown, checks that it is of the same program. `start`: the program;
/// arguments.trace: where the recording goes. Returns the exit code.
[[nodiscard]] int run_mpi_program(RunArguments& arguments, Start start, const MpiJob& job,
                                  const MpiOptions& options, int argc, char** argv);

}  // namespace lockstep::cli
