// `lockstep run`: a trace on a GPU.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/host.hpp"
#include "cli/interrupt.hpp"
#include "cli/live_program.hpp"
#include "cli/progress.hpp"
#include "cli/ranked.hpp"
#include "cli/results.hpp"
#include "cli/run_options.hpp"
#include "cli/trace_argument.hpp"
#include "config/config.hpp"
#include "stats/files.hpp"
#include "stats/host_report.hpp"
#include "stats/text.hpp"
#include "util/console.hpp"
#include "util/error.hpp"
#include "util/output_file.hpp"
#include "util/version.hpp"

namespace lockstep::cli {
namespace {

using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

bool selected(std::uint64_t id, const Ranges& ranges) {
  return ranges.empty() || std::any_of(ranges.begin(), ranges.end(),
                                       [&](const auto& r) { return id >= r.first && id <= r.second; });
}

/// A range that names no kernel is a mistake, not an empty run.
void check_kernels(const trace::TraceSet& trace, const Ranges& ranges) {
  const auto& kernels = trace.kernels();
  for (const auto& range : ranges) {
    if (std::any_of(kernels.begin(), kernels.end(), [&](const auto& k) { return selected(k.id, {range}); }))
      continue;
    const auto& [first, last] = range;
    throw UserError(fmt::format("--kernels: {} has no kernel {}{} (`lockstep info` lists them)", trace.name(),
                                first, last == first ? "" : fmt::format("-{}", last)));
  }
}

/// CTAs of the first i kernels to run, for the progress line.
std::vector<std::uint64_t> ctas_before(const trace::TraceSet& trace, const Ranges& ranges) {
  std::vector<std::uint64_t> sums{0};
  for (const auto& command : trace.commands()) {
    if (command.kind != trace::Command::Kind::kKernel) continue;
    const auto& header = trace.kernels()[command.kernel];
    if (selected(header.id, ranges)) sums.push_back(sums.back() + header.grid.count());
  }
  return sums;
}

/// Whether host processes have tasks, in which case a run needs no kernel.
bool has_tasks(const stats::RunReport& report) {
  if (!report.system || !report.system->network) return false;
  return std::ranges::any_of(report.system->network->processes, [](const auto& process) {
    return std::ranges::any_of(process.tasks, [](const auto& tasks) { return tasks.count > 0; });
  });
}

int exit_code(gpu::Outcome outcome) {
  switch (outcome) {
    case gpu::Outcome::kInterrupted:
      return kInterrupted;
    case gpu::Outcome::kDeadlock:
      return kDeadlock;
    case gpu::Outcome::kDone:
    case gpu::Outcome::kMaxCycles:
      break;
  }
  return kDone;
}

unsigned summary_columns() {
  constexpr unsigned kInFile = 110;
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kInFile;
}

/// `lost`: files that were asked for could not be written.
void print_end(const gpu::RunResult& result, const RunArguments& arguments, bool lost) {
  if (!result.dump.empty()) print_err("{}\n", result.dump);
  if (result.outcome == gpu::Outcome::kDeadlock) {
    print_err("lockstep: error: deadlock at cycle {}: work is left and nothing can change any more{}\n",
              result.report.total_cycles,
              arguments.out.empty() ? "" : fmt::format("; see {}/deadlock.txt", arguments.out));
  }
  if (arguments.quiet) return;
  if (arguments.json) {
    print_out("{}", stats::to_json(result.report));
    return flush_out();
  }
  print_out("{}", stats::to_text(result.report, result.host,
                                 {.columns = summary_columns(), .all_launches = arguments.all_launches}));
  if (arguments.out.empty()) {
    print_out("no files written; -o FOLDER keeps the results\n");
  } else if (!lost) {
    print_out("results in {}\n", arguments.out);
  }
  flush_out();
}

/// What became of the options of --accelsim-config.
void note_accelsim(const RunArguments& arguments) {
  const std::string file = arguments.out + "/accelsim-config.txt";
  if (!arguments.accelsim) {  // that of an earlier run must not pass for this one's
    if (!arguments.out.empty()) stats::remove_file(file);
    return;
  }
  const AccelsimConfig& accelsim = *arguments.accelsim;
  if (!arguments.out.empty()) stats::write_file(file, accelsim.report);
  if (!accelsim.unknown.empty()) print_err("lockstep: warning: {}\n", accelsim.unknown);
  if (arguments.quiet || arguments.json) return;
  print_out("{} (see {})\n", accelsim.summary,
            arguments.out.empty() ? "`lockstep config --accelsim-config`" : file);
}

int simulate(
    RunArguments& arguments, const trace::TraceSet& trace, ProgressPrinter& progress,
    const std::function<gpu::RunResult()>& run, int argc, char** argv,
    const std::function<int()>& nothing = [] { return kDone; });

/// Marks the kernel that the program has seen fail. It is not simulated: its counters are zero.
void add_failed_kernel(stats::RunReport& report, const cuda::FailedKernel& failed) {
  stats::KernelResult kernel;
  kernel.name = failed.name;
  kernel.id = failed.id;
  kernel.grid = failed.grid;
  kernel.block = failed.block;
  kernel.start_cycle = report.total_cycles;
  kernel.partial = true;
  report.kernels.push_back(std::move(kernel));
  report.remarks.push_back(fmt::format(
      "kernel {} was not simulated: it failed after {} of {} CTAs and {} warp instructions: {}", failed.id,
      failed.ctas, failed.grid.count(), stats::grouped(failed.instructions), failed.error));
}

/// The program did not come to its end, or not to that which it would have on a GPU.
void note_end(stats::RunReport& report, const LiveProgram& program) {
  const auto& failed = program.failed();
  if (failed) add_failed_kernel(report, *failed);
  if (report.kernels.empty()) return;
  report.partial = true;
  report.partial_reason = failed && !failed->limit.empty() ? failed->limit : "program";
}

void note_clock(stats::RunReport& report) {
  report.remarks.emplace_back(
      "the program's clocks showed simulated time (--clock simulated), in which the host's own computation "
      "takes none");
  std::sort(report.remarks.begin(), report.remarks.end());
}

/// The PTX of profiled instructions, as far as the program has said it.
void add_ptx(stats::RunReport& report, const LiveProgram& program) {
  std::map<std::uint64_t, const cuda::Listing*> listings;  // by kernel id
  const auto& kernels = program.trace().kernels();
  for (std::uint32_t k = 0; k < kernels.size(); ++k) listings[kernels[k].id] = program.listing(k);
  for (const stats::KernelResult& kernel : report.kernels) {
    const cuda::Listing* listing = listings[kernel.id];
    if (kernel.profile.instructions.empty() || listing == nullptr) continue;
    std::map<std::uint32_t, const std::string*> by_pc;
    for (const cuda::ListedInstruction& i : *listing) by_pc.emplace(i.pc, &i.ptx);
    for (stats::ProfiledInstruction& i : report.codes[kernel.code].instructions)
      if (const auto ptx = by_pc.find(i.pc); ptx != by_pc.end()) i.ptx = *ptx->second;
  }
}

}  // namespace

void check_outputs(const RunArguments& arguments) {
  const auto check = [](const std::string& file) {
    if (!file.empty()) (void)OutputFile(file);
  };
  if (!arguments.out.empty()) {
    stats::make_folder(arguments.out);
    check(arguments.out + "/config.ini");
  }
  check(arguments.timeline);
  check(arguments.work_log);
}

void check_register_names(const trace::TraceSet& trace, const std::vector<std::string>& names) {
  const auto& kernels = trace.kernels();
  for (const std::string& name : names) {
    if (std::ranges::any_of(kernels, [&](const auto& kernel) { return kernel.name == name; })) continue;
    throw UserError(
        fmt::format("--regs: the program launched no kernel '{}'; expected its mangled name, as `lockstep "
                    "lower` prints it",
                    name));
  }
}

namespace {

int run_as(ranks::Group* group, int argc, char** argv) {
  auto arguments = parse_run(argc, argv);
  if (!arguments) return kDone;
  if (group && !arguments->script.empty())
    throw UserError(
        "--launch: several processes (mpirun) simulate traces; expected the trace that `lockstep "
        "record --launch` writes");
  if (!group && arguments->ranks_map != "auto")
    throw UserError("--ranks-map has no effect: expected several processes, started by mpirun or srun");
  if (!arguments->script.empty()) return run_launch_script(*arguments, arguments->script, argc, argv);
  return simulate_trace(*arguments, argc, argv, group);
}

}  // namespace

int run_run(int argc, char** argv) {
  return as_rank([&](ranks::Group* group) { return run_as(group, argc, argv); });
}

int simulate_trace(RunArguments& arguments, int argc, char** argv, ranks::Group* group) {
  const auto trace = open(TraceArgument{arguments.trace, arguments.folders}, {.strict = arguments.strict});
  check_kernels(*trace, arguments.options.kernels);
  check_register_names(*trace, arguments.register_names);
  if (group) prepare_rank(arguments, *trace, *group);
  std::optional<Checkpoints> checkpoints;
  if (arguments.checkpoints.any())
    checkpoints.emplace(arguments.checkpoints, *trace, arguments.options, arguments.quiet);
  ProgressPrinter progress(stderr, ctas_before(*trace, arguments.options.kernels));
  const auto run = [&] {
    return checkpoints ? checkpoints->run(*trace, arguments.options)
                       : gpu::simulate(*trace, arguments.options);
  };
  const int code = simulate(arguments, *trace, progress, run, argc, argv);
  return checkpoints ? checkpoints->end(code) : code;
}

int simulate_program(RunArguments& arguments, LiveProgram& program, ProgressPrinter& progress,
                     const ProgramCalls& calls, int argc, char** argv) {
  const auto run = [&] {
    gpu::RunResult result = gpu::simulate(program, arguments.options);
    add_ptx(result.report, program);
    calls.simulated();
    const bool whole = program.ended_well() && !program.failed();
    if (result.outcome == gpu::Outcome::kDone) check_kernels(program.trace(), arguments.options.kernels);
    if (result.outcome == gpu::Outcome::kDone && whole)
      check_register_names(program.trace(), arguments.register_names);
    if (whole && result.outcome == gpu::Outcome::kDone && !result.report.has_managed())
      gpu::check_memory_is_managed(program.trace(), arguments.options.managed);
    if (result.outcome == gpu::Outcome::kDone && !whole) note_end(result.report, program);
    if (arguments.simulated_clock) note_clock(result.report);
    return result;
  };
  return simulate(arguments, program.trace(), progress, run, argc, argv, calls.nothing);
}

namespace {

/// The files and the summary, which is printed where files cannot be written, too.
void deliver(const gpu::RunResult& result, const RunArguments& arguments, ResultFolder& folder,
             const sim::WorkLog& work_log, AccelsimPrinter* blocks) {
  std::exception_ptr lost;
  try {
    folder.finish(result.report, result.host, result.outcome == gpu::Outcome::kDeadlock ? result.dump : "");
    if (!arguments.timeline.empty()) stats::write_file(arguments.timeline, result.timeline);
    if (!arguments.work_log.empty()) stats::write_file(arguments.work_log, work_log.text());
  } catch (const UserError&) {
    lost = std::current_exception();
  }
  if (blocks != nullptr) blocks->finish(result.report);
  print_end(result, arguments, lost != nullptr);
  if (lost) std::rethrow_exception(lost);
}

int simulate(RunArguments& arguments, const trace::TraceSet& trace, ProgressPrinter& progress,
             const std::function<gpu::RunResult()>& run, int argc, char** argv,
             const std::function<int()>& nothing) {
  check_outputs(arguments);
  const auto start = std::chrono::steady_clock::now();
  gpu::RunOptions& options = arguments.options;
  ResultFolder folder(arguments.out, config::to_ini(options.config),
                      options.system ? config::to_ini(*options.system) : "");
  note_accelsim(arguments);
  std::optional<AccelsimPrinter> blocks;
  if (arguments.accelsim_stats) blocks.emplace(options.config);
  const auto finish = [&](stats::RunReport& report, stats::HostReport& host) {
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    report.version = version();
    host.threads = options.threads;
    host.schedule = options.schedule == gpu::Schedule::kStatic ? "static" : "dynamic";
    stats::describe_host(host, command_line(argc, argv), wall.count());
  };
  if (!arguments.quiet) options.on_progress = [&](const gpu::Progress& p) { progress.update(p); };
  if (blocks || !arguments.out.empty()) {
    options.on_kernel_done = [&](const stats::RunReport& report) {
      if (blocks) blocks->update(report);
      folder.update(report, finish);
    };
  }
  sim::WorkLog work_log;
  if (!arguments.work_log.empty()) options.work_log = &work_log;
  const bool for_nothing =
      arguments.out.empty() && arguments.timeline.empty();  // where standard output is lost
  options.interrupted = [for_nothing] { return interrupted() || (for_nothing && lost_output() != 0); };
  catch_interrupts();
  gpu::RunResult result;
  try {
    result = run();
  } catch (...) {
    progress.finish();
    folder.abandon(finish);
    throw;
  }
  progress.finish();
  if (result.report.kernels.empty() && trace.kernels().empty() && !has_tasks(result.report) &&
      result.outcome == gpu::Outcome::kDone) {
    if (interrupted()) return kInterrupted;  // before the program's first kernel was known
    folder.withdraw();
    return nothing();
  }
  finish(result.report, result.host);
  deliver(result, arguments, folder, work_log, blocks ? &*blocks : nullptr);
  return exit_code(result.outcome);
}

}  // namespace

}  // namespace lockstep::cli
