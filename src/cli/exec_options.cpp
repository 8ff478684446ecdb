#include "cli/exec_options.hpp"

#include <fmt/format.h>

#include "cli/options.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;

void refuse_timing_options(const po::variables_map& values, const char* option) {
  const std::string why = fmt::format("with {}: nothing is simulated", option);
  refuse_idle(values, "exec",
              {"kernels", "managed", "gpu-memory", "sample", "timeline", "max-cycles", "interval", "profile",
               "accelsim-stats", "out", "json", "schedule", "window", "no-skip", "shuffle", "work-log"},
              why);
  if (!values.count("accelsim-config")) refuse_idle(values, "exec", {"strict"}, why);
}

const char* needs_whole_trace(const gpu::RunOptions& options) {
  using Kind = gpu::ManagedOptions::Kind;
  const gpu::ManagedOptions& managed = options.managed;
  if (options.sample) return "--sample needs the whole trace";
  if (managed.kind == Kind::kTrace || managed.kind == Kind::kNone) return nullptr;
  return "--managed other than none needs the whole trace";
}

std::string shown_run(const po::variables_map& values, bool is_mpi_program) {
  const std::string clock = values.count("clock") ? values["clock"].as<std::string>() : "host";
  if (clock == "host" || clock == "simulated") return "";
  if (!is_mpi_program)
    throw UserError(
        fmt::format("--clock: found '{}', expected host or simulated; a folder with results is for MPI "
                    "programs that are simulated (mpirun or srun, with two processes or more)",
                    clock));
  if (clock.empty()) throw UserError("--clock: the folder's name is empty");
  refuse_timing_options(values, "--clock FOLDER");
  return clock;
}

bool shows_simulated_time(const po::variables_map& values, bool functional, const gpu::RunOptions& options) {
  if (!values.count("clock") || values["clock"].as<std::string>() != "simulated") return false;
  if (functional)
    throw UserError("exec: --clock simulated has no effect with --functional: nothing is simulated");
  if (const char* const reason = needs_whole_trace(options))
    throw UserError(
        fmt::format("exec: --clock simulated: {}, so there is no time while the program runs", reason));
  return true;
}

}  // namespace lockstep::cli
