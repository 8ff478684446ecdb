// The options of `lockstep run`.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/accelsim.hpp"
#include "cli/check_report.hpp"
#include "cli/checkpoints.hpp"
#include "gpu/simulation.hpp"
#include "trace/device_folders.hpp"

namespace lockstep::cli {

struct RunArguments {
  std::string trace;                         // path as given; empty where folders are
  std::vector<trace::DeviceFolder> folders;  // --device: a trace for each device
  std::string script;                        // launch script; empty: `trace` is a trace, else a PTX file
  std::string out;                           // folder for results; empty = none
  std::string ranks_map = "auto";            // of several processes: auto, or a file (gpu/rank_map.hpp)
  std::string work_log;                      // file for the engine's work log; empty = none
  bool strict = false;   // an opcode or Accel-Sim option that is not in the table is an error
  std::string timeline;  // file for the timeline; empty = none
  bool accelsim_stats = false;
  std::optional<AccelsimConfig> accelsim;
  bool quiet = false;
  bool json = false;          // stats.json on standard output in place of the summary
  bool all_launches = false;  // the summary has a row for each launch
  CheckpointArguments checkpoints;
  CheckArguments check;                     // of a program or launch script
  std::vector<std::string> register_names;  // kernels of a program whose registers are given (--regs)
  std::uint64_t max_instructions =
      0;                         // warp instructions that the kernels of a program may execute; 0: no limit
  bool simulated_clock = false;  // of a program: its clocks show simulated time
  bool from_start = true;        // a program is recorded from its start (--profile-from-start)
  gpu::RunOptions options;
};

/// Ranges of kernel ids: "3", "3,7-9". Throws UserError.
[[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> parse_kernels(std::string_view text);

/// --config, --gpus: one device, or a system of several. `overrides`: of --set. Throws UserError.
void choose_machine(gpu::RunOptions& options, const boost::program_options::variables_map& values,
                    const std::vector<std::string>& overrides);

/// The options of a simulation, which `run` and `exec` share.
void add_run_options(boost::program_options::options_description& options);
/// `command`: "run" or "exec", for errors. Throws UserError.
[[nodiscard]] RunArguments run_arguments(std::string_view command,
                                         const boost::program_options::variables_map& values);

/// nullopt: only the help was printed. Resolves the configuration and warns on stderr where more
/// threads are asked for than cores are there.
[[nodiscard]] std::optional<RunArguments> parse_run(int argc, char** argv);

/// What `lockstep exec` would simulate with; nothing is started. The same for its own arguments, with "--"
/// and the program. Throws UserError.
[[nodiscard]] std::optional<RunArguments> parse_exec(int argc, char** argv);

/// Makes the folder for results, and throws UserError where one of the files that are asked for could not be
/// written: before a long run, not after it.
void check_outputs(const RunArguments& arguments);

/// Simulates arguments.trace, prints and writes what was asked for, and gives the exit code. `argc` and
/// `argv` are for the record in host.json.
[[nodiscard]] int simulate_trace(RunArguments& arguments, int argc, char** argv,
                                 ranks::Group* group = nullptr);

/// `lockstep run PTX --launch SCRIPT`: arguments.trace is the PTX file.
[[nodiscard]] int run_launch_script(RunArguments& arguments, const std::string& script, int argc,
                                    char** argv);

class LiveProgram;
class ProgressPrinter;
/// Throws UserError where --regs names a kernel that the trace of the program does not have.
void check_register_names(const trace::TraceSet& trace, const std::vector<std::string>& names);
/// What simulate_program() calls.
struct ProgramCalls {
  std::function<void()> simulated;  // when nothing more will be simulated: waits for the program's end
  std::function<int()> nothing;     // the program has launched no kernel: gives the exit code
};
/// As simulate_trace(), the commands of a program that is running. Results are printed and written when it
/// has ended.
[[nodiscard]] int simulate_program(RunArguments& arguments, LiveProgram& program, ProgressPrinter& progress,
                                   const ProgramCalls& calls, int argc, char** argv);

}  // namespace lockstep::cli
