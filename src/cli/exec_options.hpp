// Options of `lockstep exec` and `record`: how kernels are lowered, what is simulated, and what then has no
// effect. All throw UserError.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "gpu/simulation.hpp"

namespace lockstep::cli {

/// Nothing is simulated, because of `option`: what asks for a simulation's results, or says how to simulate,
/// would be ignored.
void refuse_timing_options(const boost::program_options::variables_map& values, const char* option);

/// --profile-from-start, of `exec` and `record`.
void add_range_option(boost::program_options::options_description& options);
/// Is the program recorded from its start on? Else only its ranges, from cudaProfilerStart() to
/// cudaProfilerStop().
[[nodiscard]] bool profiles_from_start(const boost::program_options::variables_map& values);
/// To the runtime in the program's process. `refused`: why a program's ranges cannot be recorded alone;
/// nullptr where they can.
void pass_ranges(const boost::program_options::variables_map& values, const char* refused);

/// --ptx-above, of all that runs PTX.
void add_ptx_option(boost::program_options::options_description& options);
/// To the runtime in the program's process.
void pass_ptx_option(const boost::program_options::variables_map& values);

/// How kernels are lowered and executed.
void add_code_options(boost::program_options::options_description& options);
void check_code_options(const boost::program_options::variables_map& values);
/// To the runtime in the program's process. Returns the kernels whose registers are given.
[[nodiscard]] std::vector<std::string> pass_code_options(const boost::program_options::variables_map& values);

/// Why the program must have ended before its simulation begins; nullptr where it need not.
[[nodiscard]] const char* needs_whole_trace(const gpu::RunOptions& options);

/// --clock: the folder of a run whose times an MPI program is shown; empty: there is none.
[[nodiscard]] std::string shown_run(const boost::program_options::variables_map& values, bool is_mpi_program);

/// --clock: do the program's clocks show simulated time?
[[nodiscard]] bool shows_simulated_time(const boost::program_options::variables_map& values, bool functional,
                                        const gpu::RunOptions& options);

}  // namespace lockstep::cli
