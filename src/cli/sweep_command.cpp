// `lockstep sweep`: a study's runs, side by side or as a SLURM array, and their table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/host.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/sweep_jobs.hpp"
#include "stats/files.hpp"
#include "study/figures.hpp"
#include "study/slurm.hpp"
#include "study/table.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace fs = std::filesystem;
namespace {

using study::State;

struct SweepArguments {
  std::string file, out, base;  // absolute
  unsigned jobs = 0, threads = 0;
  enum class Rerun : std::uint8_t { kNone, kFailed, kAll } rerun = Rerun::kNone;
  enum class Mode : std::uint8_t { kRun, kList, kCollect, kTask, kSlurm } mode = Mode::kRun;
  std::size_t task = 0;
  bool json = false, quiet = false;
  std::vector<std::string> sbatch;
};

Syntax sweep_syntax() {
  Syntax syntax;
  syntax.usage = "sweep STUDY.toml [options]";
  syntax.summary =
      "Runs a study: traces and programs on configurations that vary along axes, and their table.";
  syntax.positionals = {"STUDY"};
  auto text = [] { return po::value<std::string>(); };
  syntax.options.add_options()("out,o", text(),
                               "folder for the results; by default STUDY-results in the current folder")(
      "jobs,j", text(), "concurrent runs; by default the study's, or as many as the cores allow")(
      "threads,t", text(),
      "threads of each run; by default the study's, in a SLURM task SLURM_CPUS_PER_TASK")(
      "base", text(), "folder to which the study's relative paths refer; by default that of STUDY.toml")(
      "rerun", text(), "failed: repeat the failed runs; all: repeat all runs")(
      "list", "only list the runs and their state")("collect",
                                                    "only make the table and figures of existing results")(
      "task", text(), "only run number N of --list, as a task of an array does; no table")(
      "slurm", "submit the missing runs as a SLURM array; options for sbatch follow after --")(
      "json", "the table as JSON instead of text")("quiet,q", "no progress and no table");
  syntax.notes =
      "Writes table.csv, table.jsonl and figures/*.svg; each run has its folder in runs/. Complete\n"
      "runs are not repeated. Exit codes: 0 all runs are complete, 1 some failed or are missing, 130 ended "
      "by a "
      "signal,\n75 --task ended by a signal with a checkpoint, from which it resumes.";
  return syntax;
}

unsigned number_of(const po::variables_map& values, const char* name, std::uint64_t high) {
  if (!values.count(name)) return 0;
  return static_cast<unsigned>(
      parse_number(fmt::format("--{}", name), values[name].as<std::string>(), 1, high));
}

SweepArguments::Mode mode_of(const po::variables_map& values) {
  using Mode = SweepArguments::Mode;
  constexpr std::array<std::pair<const char*, Mode>, 4> kModes{
      {{"list", Mode::kList}, {"collect", Mode::kCollect}, {"task", Mode::kTask}, {"slurm", Mode::kSlurm}}};
  Mode mode = Mode::kRun;
  const char* found = nullptr;
  for (const auto& [name, own] : kModes) {
    if (!values.count(name)) continue;
    if (found != nullptr)
      throw UserError(fmt::format("sweep: --{} and --{}; expected one of them", found, name));
    found = name;
    mode = own;
  }
  if (mode == Mode::kList || mode == Mode::kCollect)
    refuse_idle(values, "sweep", {"jobs", "threads", "rerun"},
                fmt::format("with --{}: nothing is run", found));
  if (mode == Mode::kTask || mode == Mode::kSlurm)
    refuse_idle(values, "sweep", {"jobs", "json"}, fmt::format("with --{}", found));
  return mode;
}

SweepArguments::Rerun rerun_of(const po::variables_map& values) {
  using Rerun = SweepArguments::Rerun;
  if (!values.count("rerun")) return Rerun::kNone;
  const auto& text = values["rerun"].as<std::string>();
  if (text != "failed" && text != "all")
    throw UserError(fmt::format("--rerun: found '{}', expected failed or all", text));
  return text == "all" ? Rerun::kAll : Rerun::kFailed;
}

SweepArguments sweep_arguments(const po::variables_map& values) {
  SweepArguments a;
  const fs::path file = values["STUDY"].as<std::string>();
  if (fs::is_directory(file))
    throw UserError(fmt::format("{} is a folder, expected a study's TOML file", file.string()));
  const auto folder = [&](const char* name, const fs::path& otherwise) {
    const fs::path path = values.count(name) ? fs::path(values[name].as<std::string>()) : otherwise;
    if (path.empty()) throw UserError(fmt::format("--{}: the folder's name is empty", name));
    return fs::absolute(path).lexically_normal().string();
  };
  a.file = file.string();
  a.out = folder("out", file.stem().string() + "-results");
  a.base = folder("base", fs::absolute(file).parent_path());
  if (!fs::is_directory(a.base)) throw UserError(fmt::format("--base: {} is not a folder", a.base));
  a.jobs = number_of(values, "jobs", kMaxThreads);
  a.threads = number_of(values, "threads", kMaxThreads);
  a.mode = mode_of(values);
  a.rerun = rerun_of(values);
  a.task = number_of(values, "task", 1'000'000);
  a.json = values.count("json") > 0;
  a.quiet = values.count("quiet") > 0;
  return a;
}

/// A study that is read, its runs, and where their results are.
struct Sweep {
  SweepArguments arguments;
  study::Study study;
  SweepJobs plan;
  study::RunStore store;
};

unsigned threads_of(const Sweep& sweep) {
  if (sweep.arguments.threads > 0) return sweep.arguments.threads;
  const bool in_task =
      sweep.arguments.mode == SweepArguments::Mode::kTask && std::getenv("SLURM_CPUS_PER_TASK");
  return in_task ? default_threads() : sweep.study.threads;
}

unsigned jobs_of(const Sweep& sweep) {
  if (sweep.arguments.jobs > 0) return sweep.arguments.jobs;
  if (sweep.study.jobs > 0) return sweep.study.jobs;
  return std::max(1u, affinity_cores() / threads_of(sweep));
}

/// What is to be run of `candidates`, indices of jobs. --rerun takes effect here.
std::vector<std::size_t> pending(const Sweep& sweep, const std::vector<std::size_t>& candidates) {
  std::vector<std::size_t> left;
  for (const std::size_t j : candidates) {
    const std::string& key = sweep.plan.jobs[j].key;
    State state = sweep.store.lookup(key).state;
    const bool again = sweep.arguments.rerun == SweepArguments::Rerun::kAll ||
                       (sweep.arguments.rerun == SweepArguments::Rerun::kFailed && state == State::kFailed);
    if (again && (state == State::kComplete || state == State::kFailed)) {
      sweep.store.forget(key);
      state = State::kMissing;
    }
    if (state == State::kMissing) left.push_back(j);
  }
  return left;
}

std::vector<std::size_t> all_jobs(const Sweep& sweep) {
  std::vector<std::size_t> all(sweep.plan.jobs.size());
  for (std::size_t j = 0; j < all.size(); ++j) all[j] = j;
  return all;
}

void run_pending(const Sweep& sweep, const std::vector<std::size_t>& left, unsigned jobs) {
  std::vector<study::Job> work;
  for (const std::size_t j : left) work.push_back(sweep.plan.jobs[j]);
  study::RunnerOptions options;
  options.program = fs::read_symlink("/proc/self/exe").string();
  options.jobs = jobs;
  options.threads = threads_of(sweep);
  options.signal = [] { return interrupted() ? signal_to_pass_on() : 0; };
  std::size_t done = 0;
  if (!sweep.arguments.quiet)
    options.ended = [&](std::size_t job, const study::Stored& stored, double seconds) {
      const char* how = stored.state != State::kMissing             ? name_of(stored.state)
                        : sweep.store.has_checkpoint(work[job].key) ? "cut off, with a checkpoint"
                                                                    : "cut off";
      print_err("[{}/{}] {} in {:.1f} s: {}{}{}\n", ++done, work.size(), how, seconds,
                sweep.plan.names[left[job]], stored.error.empty() ? "" : ": ", stored.error);
    };
  study::run_jobs(sweep.store, work, options);
}

/// Writes the files, prints the table and says whether all is there.
int deliver(const Sweep& sweep) {
  const study::Table table = study::make_table(sweep.study, sweep.plan.runs, sweep.plan.keys, sweep.store);
  const std::string& out = sweep.arguments.out;
  stats::make_folder(out);
  const std::array<stats::NamedContent, 2> files{
      {{"table.csv", study::to_csv(table)}, {"table.jsonl", study::to_json_lines(table)}}};
  stats::write_files(out, files);
  study::check_columns(sweep.study, table);
  if (!sweep.study.figures.empty()) stats::make_folder(out + "/figures");
  for (const study::Figure& figure : sweep.study.figures)
    stats::write_file(fmt::format("{}/figures/{}.svg", out, figure.name),
                      study::draw(sweep.study, figure, table));
  if (sweep.arguments.json) {
    print_out("{}", study::to_json(sweep.study, table));
  } else if (!sweep.arguments.quiet) {
    print_out("{}results in {}\n", study::to_text(sweep.study, table), out);
  }
  const std::size_t state = table.column("state");
  return std::ranges::all_of(table.rows, [&](const auto& row) { return row[state] == "complete"; })
             ? kDone
             : kDifferent;
}

int list(const Sweep& sweep) {
  if (sweep.arguments.json) {
    print_out("{}", study::jobs_json(sweep.plan.jobs, sweep.plan.names, sweep.store));
    return kDone;
  }
  for (std::size_t j = 0; j < sweep.plan.jobs.size(); ++j) {
    const study::Stored stored = sweep.store.lookup(sweep.plan.jobs[j].key);
    print_out("{:>4}  {:<8}  {}  {}{}{}\n", j + 1, name_of(stored.state), sweep.plan.jobs[j].key,
              sweep.plan.names[j], stored.error.empty() ? "" : ": ", stored.error);
  }
  return kDone;
}

int run_task(const Sweep& sweep) {
  const std::size_t count = sweep.plan.jobs.size(), task = sweep.arguments.task;
  if (task > count) throw UserError(fmt::format("--task: found {}, expected 1 to {}", task, count));
  const auto left = pending(sweep, {task - 1});
  catch_interrupts();
  run_pending(sweep, left, 1);
  const study::Stored stored = sweep.store.lookup(sweep.plan.jobs[task - 1].key);
  if (left.empty() && !sweep.arguments.quiet)
    print_err("{}: {} already\n", sweep.plan.names[task - 1], name_of(stored.state));
  if (interrupted())
    return sweep.store.has_checkpoint(sweep.plan.jobs[task - 1].key) ? kCheckpointed : kInterrupted;
  return stored.state == State::kComplete ? kDone : kDifferent;
}

int submit(const Sweep& sweep) {
  std::vector<std::size_t> tasks;
  for (const std::size_t j : pending(sweep, all_jobs(sweep))) tasks.push_back(j + 1);
  if (tasks.empty()) {
    print_out("nothing to do: no run in {} is missing\n", sweep.arguments.out);
    return kDone;
  }
  study::ArrayOptions options;
  options.task = {fs::read_symlink("/proc/self/exe").string(),
                  "sweep",
                  fs::absolute(sweep.arguments.file).string(),
                  "-o",
                  sweep.arguments.out,
                  "--base",
                  sweep.arguments.base,
                  "--task"};
  options.folder = sweep.arguments.out;
  options.threads = threads_of(sweep);
  options.sbatch = sweep.arguments.sbatch;
  study::submit_array(options, tasks);
  return kDone;
}

int run_all(const Sweep& sweep) {
  const auto left = pending(sweep, all_jobs(sweep));
  if (!sweep.arguments.quiet)
    print_err("{} runs, {} to do; {} at a time with {} thread{} each\n", sweep.plan.jobs.size(), left.size(),
              jobs_of(sweep), threads_of(sweep), threads_of(sweep) == 1 ? "" : "s");
  catch_interrupts();
  run_pending(sweep, left, jobs_of(sweep));
  const int code = deliver(sweep);
  return interrupted() ? kInterrupted : code;
}

/// What follows "--" is for sbatch.
int options_end(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--") == 0) return i;
  return argc;
}

}  // namespace

int run_sweep(int argc, char** argv) {
  const int end = options_end(argc, argv);
  const auto values = parse(end, argv, sweep_syntax());
  if (!values) return kDone;
  SweepArguments arguments = sweep_arguments(*values);
  if (end < argc) arguments.sbatch.assign(argv + end + 1, argv + argc);
  if (!arguments.sbatch.empty() && arguments.mode != SweepArguments::Mode::kSlurm)
    throw UserError("sweep: what follows -- is for sbatch; expected --slurm with it");
  study::Study study = study::read_study(arguments.file);
  using Mode = SweepArguments::Mode;
  if (arguments.mode != Mode::kList && arguments.mode != Mode::kCollect) study::check_names_of_columns(study);
  arguments.file = fs::absolute(arguments.file).string();
  fs::current_path(arguments.base);
  SweepJobs plan = sweep_jobs(study);
  study::RunStore store(arguments.out);
  const Sweep sweep{std::move(arguments), std::move(study), std::move(plan), std::move(store)};
  switch (sweep.arguments.mode) {
    case SweepArguments::Mode::kList:
      return list(sweep);
    case SweepArguments::Mode::kCollect:
      return deliver(sweep);
    case SweepArguments::Mode::kTask:
      return run_task(sweep);
    case SweepArguments::Mode::kSlurm:
      return submit(sweep);
    case SweepArguments::Mode::kRun:
      break;
  }
  return run_all(sweep);
}

}  // namespace lockstep::cli
