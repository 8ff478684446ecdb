// `lockstep exec` and `lockstep record`: a CUDA program, executed functionally; its kernels as a trace; the
// trace timed.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/child.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/run_options.hpp"
#include "config/config.hpp"
#include "cuda/register_choice.hpp"
#include "stats/files.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace fs = std::filesystem;
namespace {

/// What stands before "--" and the command behind it.
struct Split {
  int options = 0;  // argc of the first part
  std::vector<std::string> command;
};

Split split(int argc, char** argv) {
  Split parts{argc, {}};
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--") != 0) continue;
    parts.options = i;
    parts.command.assign(argv + i + 1, argv + argc);
    break;
  }
  return parts;
}

void need_command(const char* name, const std::vector<std::string>& command) {
  if (command.empty())
    throw UserError(
        fmt::format("{0}: no program; expected `lockstep {0} [options] -- PROGRAM [ARGUMENTS]`", name));
}

void add_register_options(Syntax& syntax) {
  syntax.options.add_options()("registers", po::value<std::string>()->default_value("cubin"),
                               "registers of a thread: cubin (ptxas's, where the program has machine code "
                               "that this GPU could load) or "
                               "estimate")(
      "regs", po::value<std::vector<std::string>>()->composing(),
      "registers of one kernel, NAME=N with its mangled name; repeatable");
}

/// To the runtime in the program's process.
void pass_registers(const po::variables_map& values) {
  std::vector<std::string> kernels;
  if (values.count("regs")) kernels = values["regs"].as<std::vector<std::string>>();
  const auto choice = cuda::make_register_choice(values["registers"].as<std::string>(), kernels);
  setenv(cuda::kRegistersVariable, cuda::to_text(choice).c_str(), 1);
}

ChildResult execute(const RunArguments& arguments, const std::vector<std::string>& command,
                    const std::string& folder, const std::string& trace) {
  const std::string config = folder + "/config.ini";
  stats::write_file(config, config::to_ini(arguments.options.config));
  catch_interrupts();  // the program gets Ctrl-C too; we live on to report
  const ChildResult child = run_child(command, config, trace);
  if (child.signal != 0)
    fmt::print(stderr, "lockstep: {} was ended by signal {}\n", command.front(), strsignal(child.signal));
  return child;
}

}  // namespace

int run_exec(int argc, char** argv) {
  Syntax syntax;
  syntax.usage = "exec [options] -- PROGRAM [ARGUMENTS]";
  syntax.summary = "Runs a CUDA program without a GPU, then simulates its kernels.";
  add_run_options(syntax.options);
  syntax.options.add_options()("functional", "only execute: no timing, no statistics")(
      "record", po::value<std::string>(), "keep the trace as this file (see `lockstep run`)");
  add_register_options(syntax);
  syntax.notes =
      "PROGRAM: as nvcc made it, with PTX in it (the default), linked with the shared or the static runtime. "
      "Its\n"
      "arguments, standard streams and exit code are passed through. While it runs, cudaEventElapsedTime and "
      "clock()\n"
      "count executed instructions, one nanosecond or cycle each: timing happens afterwards.";
  const Split parts = split(argc, argv);
  const auto values = parse(parts.options, argv, syntax);
  if (!values) return kDone;
  need_command("exec", parts.command);
  pass_registers(*values);
  RunArguments arguments = run_arguments(*values);
  const TemporaryFolder folder;
  const bool functional = values->count("functional") > 0;
  arguments.trace =
      values->count("record") ? (*values)["record"].as<std::string>() : folder.path() + "/exec.lst";
  const std::string trace = functional && !values->count("record") ? "" : arguments.trace;
  const ChildResult child = execute(arguments, parts.command, folder.path(), trace);
  if (child.signal != 0 || functional) return child.code;
  if (!fs::exists(arguments.trace)) {
    fmt::print(stderr, "lockstep: the program launched no kernel, or one failed: nothing to simulate\n");
    return child.code;
  }
  const int code = simulate_trace(arguments, argc, argv);
  return child.code != 0 ? child.code : code;
}

int run_record(int argc, char** argv) {
  Syntax syntax;
  syntax.usage = "record OUT [options] -- PROGRAM [ARGUMENTS]";
  syntax.summary =
      "Runs a CUDA program without a GPU and writes what its kernels executed as a compact trace.";
  syntax.positionals = {"OUT"};
  syntax.options.add_options()("config,c", po::value<std::string>()->default_value("v100"),
                               "GPU that the program sees: a product's name or an INI file")(
      "set", po::value<std::vector<std::string>>()->composing(),
      "one configuration value, KEY=VALUE; repeatable");
  add_register_options(syntax);
  const Split parts = split(argc, argv);
  const auto values = parse(parts.options, argv, syntax);
  if (!values) return kDone;
  need_command("record", parts.command);
  pass_registers(*values);
  RunArguments arguments;
  std::vector<std::string> overrides;
  if (values->count("set")) overrides = (*values)["set"].as<std::vector<std::string>>();
  arguments.options.config = config::resolve((*values)["config"].as<std::string>(), overrides);
  const TemporaryFolder folder;
  return execute(arguments, parts.command, folder.path(), (*values)["OUT"].as<std::string>()).code;
}

}  // namespace lockstep::cli
