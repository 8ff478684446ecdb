// `lockstep exec` and `lockstep record`: a CUDA program, executed functionally; its kernels as a trace; the
// trace timed.
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/child.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/exec_options.hpp"
#include "cli/execute.hpp"
#include "cli/inputs.hpp"
#include "cli/interrupt.hpp"
#include "cli/live_program.hpp"
#include "cli/mpi_program.hpp"
#include "cli/nothing_recorded.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/ranked.hpp"
#include "cli/run_options.hpp"
#include "cli/temporary_folder.hpp"
#include "config/config.hpp"
#include "exec/address_space.hpp"
#include "stats/files.hpp"
#include "util/console.hpp"
#include "util/error.hpp"
#include "util/output_file.hpp"

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
  if (command.empty() || command.front().empty())
    throw UserError(
        fmt::format("{0}: no program; expected `lockstep {0} [options] -- PROGRAM [ARGUMENTS]`", name));
}

/// GPUs that the program sees: those of the run's machine, their links, and which of them no link connects.
/// Where nothing is simulated and no links are described, all are peers.
void show_gpus(const RunArguments& arguments, bool timed, Start& start) {
  const auto& system = arguments.options.system;
  if (!system) return;
  const auto& first = system->devices.front().gpu.name;
  for (const config::GpuConfig& device : system->devices)
    if (device.gpu.name != first)
      throw UserError(
          fmt::format("{} has a {} and a {}; expected GPUs of one kind, as a program sees only such",
                      system->name, first, device.gpu.name));
  if (system->devices.size() > exec::kMaxDevices)
    throw UserError(fmt::format("--gpus: {} devices; a program has at most {}", system->devices.size(),
                                exec::kMaxDevices));
  start.gpus = static_cast<unsigned>(system->devices.size());
  for (unsigned d = 0; d < start.gpus; ++d)
    if (!system->multicast_switches(d).empty()) start.multicast |= exec::device_bit(d);
  const std::uint32_t others = system->hosts + system->nics;  // nodes that a program's NVLinks do not lead to
  for (const config::LinkEdge& edge : system->edges) {
    const auto shown = [&](std::uint32_t node) { return node < start.gpus ? node : node - others; };
    const auto is_other = [&](std::uint32_t node) {
      return node >= start.gpus && node < start.gpus + others;
    };
    if (is_other(edge.a) || is_other(edge.b)) continue;
    start.links +=
        fmt::format("{}{}-{}*{}", start.links.empty() ? "" : ",", shown(edge.a), shown(edge.b), edge.count);
  }
  if (!timed && system->edges.empty()) return;
  const auto routes = system->routes();
  for (unsigned a = 0; a < start.gpus; ++a)
    for (unsigned b = a + 1; b < start.gpus; ++b)
      if (routes[a][b] == config::SystemConfig::kNoEdge)
        start.apart += fmt::format("{}{}-{}", start.apart.empty() ? "" : ",", a, b);
}

/// The file with the configuration that the program's process reads.
std::string write_config(const RunArguments& arguments, const std::string& folder) {
  std::string config = folder + "/config.ini";
  stats::write_file(config, config::to_ini(arguments.options.config));
  catch_interrupts();  // the program gets Ctrl-C too; we live on to report
  return config;
}

void tell_signal(const ChildResult& child, const std::string& program) {
  if (child.signal != 0) print_err("lockstep: {} was ended by signal {}\n", program, strsignal(child.signal));
}

/// This program as the one that performs a launch script.
Start player(const std::string& ptx, const std::string& script) {
  Start start;
  start.command = {fs::read_symlink("/proc/self/exe").string(), "script", ptx, script};
  start.own = true;
  return start;
}

}  // namespace

ChildResult execute(const RunArguments& arguments, Start start, const std::string& folder) {
  start.config = write_config(arguments, folder);
  Child child(start);
  ProgressPrinter progress(stderr);
  const auto poll = [&] { progress.update(child.execution()); };
  ChildResult result = arguments.quiet ? child.wait() : child.wait(poll);
  progress.finish();
  if (interrupted()) result.code = kInterrupted;
  return result;
}

namespace {

const char* command_of(const RunArguments& arguments) { return arguments.script.empty() ? "exec" : "run"; }

/// A script that fails before its first launch has said why.
bool said_why(bool script, const ChildResult& child) {
  return script && child.code != 0 && child.execution.launch == 0;
}

int end_without_kernels(const RunArguments& arguments, const ChildResult& child, bool keep) {
  if (said_why(!arguments.script.empty(), child)) return child.code;
  return end_with_nothing(command_of(arguments), child, arguments.from_start,
                          keep ? Awaited::kTrace : Awaited::kResults);
}

/// After the program's end: its trace.
int simulate_rest(RunArguments& arguments, const ChildResult& child, int argc, char** argv) {
  const int code = simulate_trace(arguments, argc, argv);
  return child.code != 0 ? child.code : code;
}

/// The program, and its simulation at the same time.
int execute_live(RunArguments& arguments, Start start, const std::string& folder, bool keep, int argc,
                 char** argv) {
  const SocketPair sockets;
  start.config = write_config(arguments, folder);
  start.socket = sockets.theirs;
  start.max_cycles = arguments.options.max_cycles;
  start.listings = arguments.options.profile;
  Child child(start);
  ProgressPrinter progress(stderr);
  const auto poll = [&] {
    if (!arguments.quiet) progress.update(child.execution());
  };
  LiveProgram live(sockets.ours, arguments.strict, [&] {
    poll();
    return interrupted() || child.ended();
  });
  ProgramCalls calls;
  calls.simulated = [&] {  // left before the program is waited for
    live.leave();
    const ChildResult result = child.wait(poll);
    progress.finish();
    tell_signal(result, start.command.front());
  };
  calls.nothing = [&] { return end_without_kernels(arguments, child.wait(), keep); };
  const int code = simulate_program(arguments, live, progress, calls, argc, argv);
  return child.wait().code == 0 || interrupted() ? code : child.wait().code;
}

int execute_and_simulate(RunArguments& arguments, Start start, const std::string& folder, bool functional,
                         bool keep, int argc, char** argv) {
  if (!functional) check_outputs(arguments);
  if (keep) (void)OutputFile(arguments.trace, OutputFile::Target::kRegular);
  start.max_instructions = arguments.max_instructions;
  arguments.trace = fs::absolute(arguments.trace).string();  // the program may change its folder
  if (!functional || keep) start.trace = arguments.trace;
  start.threads = arguments.options.threads;
  const char* const reason = functional ? nullptr : needs_whole_trace(arguments.options);
  if (!functional && reason == nullptr)
    return execute_live(arguments, std::move(start), folder, keep, argc, argv);
  if (reason != nullptr && !arguments.quiet)
    print_err(
        "lockstep: {}: simulated after the program's end; its events and clocks count executed "
        "instructions\n",
        reason);
  const std::string program = start.command.front();
  const AwaitedFile trace(arguments.trace);
  const ChildResult child = execute(arguments, std::move(start), folder);
  tell_signal(child, program);
  if ((!functional || keep) && !trace.written()) return end_without_kernels(arguments, child, keep);
  return functional || child.signal != 0 ? child.code : simulate_rest(arguments, child, argc, argv);
}

/// As execute_and_simulate(), and reports what the checks have found.
int execute_and_check(RunArguments& arguments, Start start, const std::string& folder, bool functional,
                      bool keep, int argc, char** argv) {
  pass_checks(arguments.check, folder);
  const auto report = [&](int code) { return report_checks(arguments.check, folder, arguments.out, code); };
  int code = 0;
  try {
    code = execute_and_simulate(arguments, std::move(start), folder, functional, keep, argc, argv);
  } catch (...) {
    (void)report(kInternalError);
    throw;
  }
  return report(code);
}

Syntax exec_syntax() {
  Syntax syntax;
  syntax.usage = "exec [options] -- PROGRAM [ARGUMENTS]";
  syntax.summary = "Runs a CUDA program without a GPU and simulates its kernels.";
  add_run_options(syntax.options);
  syntax.options.add_options()("functional", "only execute: no timing, no statistics")(
      "record", po::value<std::string>(), "keep the trace as this file (see `lockstep run`)");
  syntax.options.add_options()(
      "clock", po::value<std::string>(),
      "what clocks of the host show the program: host (the default), or simulated: gettimeofday, "
      "clock_gettime, time, clock, std::chrono and omp_get_wtime give simulated time, in which the host's "
      "own computation takes none. MPI programs: the folder with an earlier run's results; the program is "
      "only executed, and MPI_Wtime and cudaEventElapsedTime give that run's times");
  add_range_option(syntax.options);
  add_code_options(syntax.options);
  add_mpi_options(syntax.options);
  syntax.notes =
      "PROGRAM: as nvcc made it, with PTX in it (the default), linked with the shared or the static runtime. "
      "Its\n"
      "arguments, standard streams and exit code are passed through. The simulation runs alongside it: "
      "cudaEventElapsedTime,\n"
      "cudaEventQuery and clock() give simulated time. With --functional and with --managed other than none "
      "they count\n"
      "executed instructions, one nanosecond or cycle each.";
  return syntax;
}

}  // namespace

std::optional<RunArguments> parse_exec(int argc, char** argv) {
  const Split parts = split(argc, argv);
  const auto values = parse(parts.options, argv, exec_syntax());
  if (!values) return std::nullopt;
  need_command("exec", parts.command);
  check_code_options(*values);
  (void)profiles_from_start(*values);
  RunArguments arguments = run_arguments("exec", *values);
  Start start;
  show_gpus(arguments, true, start);
  return arguments;
}

namespace {

/// Refuses to write `file` over the program, its launch script or the configuration.
void keep_inputs(std::string_view option, const std::string& file, const po::variables_map& values,
                 const std::string& program) {
  std::vector<std::string> inputs{program, values["config"].as<std::string>()};
  if (values.count("launch")) inputs.push_back(values["launch"].as<std::string>());
  for (const std::string& input : inputs) refuse_overwriting(option, file, is_same_file(file, input));
}

int exec_as(const std::optional<MpiJob>& job, int argc, char** argv) {
  const Split parts = split(argc, argv);
  const auto values = parse(parts.options, argv, exec_syntax());
  if (!values) return kDone;
  need_command("exec", parts.command);
  auto register_names = pass_code_options(*values);
  const bool functional = values->count("functional") > 0;
  if (functional) refuse_timing_options(*values, "--functional");
  if (functional && !values->count("record"))
    refuse_idle(*values, "exec", {"profile-from-start"}, "with --functional: nothing is recorded");
  const bool from_start = profiles_from_start(*values);
  pass_ranges(*values, job && !functional ? "a program with MPI is recorded from its start" : nullptr);
  RunArguments arguments = run_arguments("exec", *values);
  arguments.register_names = std::move(register_names);
  arguments.from_start = from_start;
  const TemporaryFolder folder;
  arguments.trace =
      values->count("record") ? (*values)["record"].as<std::string>() : folder.path() + "/exec.lst";
  if (values->count("record") && arguments.trace.empty())
    throw UserError("--record: the file's name is empty");
  for (const char* output : {"record", "timeline", "work-log"})
    if (values->count(output))
      keep_inputs(fmt::format("--{}", output), (*values)[output].as<std::string>(), *values,
                  parts.command.front());
  arguments.simulated_clock = shows_simulated_time(*values, functional, arguments.options);
  const std::string shown = shown_run(*values, job && !functional);
  Start start;
  start.command = parts.command;
  start.simulated_clock = arguments.simulated_clock;
  show_gpus(arguments, !functional, start);
  if (job && !functional) {
    MpiOptions options = mpi_options(*values);
    options.shown = shown;
    return run_mpi_program(arguments, std::move(start), *job, options, argc, argv);
  }
  refuse_mpi_options(*values);
  return execute_and_check(arguments, std::move(start), folder.path(), functional,
                           values->count("record") > 0, argc, argv);
}

}  // namespace

int run_exec(int argc, char** argv) {
  const std::optional<MpiJob> job = mpi_job();
  if (!job && refuse_ranks("exec", "and it was built without a layer for MPI programs")) return kBadInput;
  if (!job) return exec_as(job, argc, argv);
  return as_process(*job, [&] { return exec_as(job, argc, argv); });
}

int run_launch_script(RunArguments& arguments, const std::string& script, int argc, char** argv) {
  const TemporaryFolder folder;
  Start start = player(arguments.trace, script);
  arguments.trace = folder.path() + "/script.lst";
  return execute_and_check(arguments, std::move(start), folder.path(), false, false, argc, argv);
}

int run_record(int argc, char** argv) {
  Syntax syntax;
  syntax.usage = "record OUT [options] -- PROGRAM [ARGUMENTS]";
  syntax.summary =
      "Runs a CUDA program without a GPU and writes what its kernels executed as a compact trace.";
  syntax.positionals = {"OUT"};
  syntax.options.add_options()("config,c", po::value<std::string>()->default_value("v100"),
                               "GPU or system that the program sees: its name or an INI file")(
      "gpus", po::value<std::string>(), "several of the GPU, or the first ones of the system")(
      "set", po::value<std::vector<std::string>>()->composing(),
      "one configuration value, KEY=VALUE; repeatable")(
      "launch", po::value<std::string>(), "what follows -- is a PTX file, and this its launch script")(
      "max-instructions", po::value<std::string>(),
      "stop a kernel when the program's kernels have executed this many warp instructions in total")(
      "quiet,q", "no progress");
  add_range_option(syntax.options);
  add_code_options(syntax.options);
  const Split parts = split(argc, argv);
  const auto values = parse(parts.options, argv, syntax);
  if (!values) return kDone;
  need_command("record", parts.command);
  const auto register_names = pass_code_options(*values);
  pass_ranges(*values, values->count("launch") ? "a launch script has no ranges" : nullptr);
  RunArguments arguments;
  std::vector<std::string> overrides;
  if (values->count("set")) overrides = (*values)["set"].as<std::vector<std::string>>();
  choose_machine(arguments.options, *values, overrides);
  const TemporaryFolder folder;
  Start start;
  start.command = parts.command;
  show_gpus(arguments, false, start);
  if (values->count("launch")) {
    if (parts.command.size() != 1) throw UserError("record: --launch: expected one PTX file behind --");
    start = player(parts.command.front(), (*values)["launch"].as<std::string>());
  }
  const auto& out = (*values)["OUT"].as<std::string>();
  keep_inputs("OUT", out, *values, parts.command.front());
  (void)OutputFile(out, OutputFile::Target::kRegular);  // could it be written?
  start.trace = fs::absolute(out).string();
  arguments.quiet = values->count("quiet") > 0;
  if (values->count("max-instructions"))
    start.max_instructions =
        parse_number("--max-instructions", (*values)["max-instructions"].as<std::string>(), 1,
                     std::numeric_limits<std::uint64_t>::max());
  const std::string trace = start.trace;
  const AwaitedFile awaited(trace);
  const std::string program = start.command.front();
  const ChildResult child = execute(arguments, std::move(start), folder.path());
  tell_signal(child, program);
  if (!awaited.written() && said_why(values->count("launch") > 0, child)) return child.code;
  if (!awaited.written())
    return end_with_nothing("record", child, profiles_from_start(*values), Awaited::kTrace);
  if (child.code == kDone && !register_names.empty())
    check_register_names(*trace::open_trace(trace), register_names);
  return child.code;
}

}  // namespace lockstep::cli
