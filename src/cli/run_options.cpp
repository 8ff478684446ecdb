#include "cli/run_options.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>

#include "cli/exec_options.hpp"
#include "cli/host.hpp"
#include "cli/inputs.hpp"
#include "cli/trace_argument.hpp"
#include "config/config.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace {

constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();

Syntax run_syntax() {
  Syntax syntax;
  syntax.usage = "run TRACE [options]";
  syntax.summary = "Simulates TRACE: a folder with a kernelslist, a list file or one kernel file.";
  add_trace_argument(syntax);
  syntax.options.add_options()("launch", po::value<std::string>(),
                               "TRACE is a PTX file, and this its launch script: see docs/launch-script.md");
  add_ptx_option(syntax.options);
  add_run_options(syntax.options);
  syntax.options.add_options()("ranks-map", po::value<std::string>()->default_value("auto"),
                               "started by mpirun or srun: which process simulates which device, auto or a "
                               "FILE; see docs/many-machines.md");
  syntax.notes =
      "Without --out, only the summary is written. Threads, schedule, window, no-skip and shuffle "
      "change no\n"
      "byte of stats.json. `lockstep --help` lists the exit codes.";
  return syntax;
}
gpu::Schedule parse_schedule(const std::string& text) {
  if (text == "static") return gpu::Schedule::kStatic;
  if (text == "dynamic") return gpu::Schedule::kDynamic;
  throw UserError(fmt::format("--schedule: found '{}', expected static or dynamic", text));
}

unsigned choose_threads(const po::variables_map& values) {
  unsigned threads = default_threads();
  if (values.count("threads")) {
    threads =
        static_cast<unsigned>(parse_number("--threads", values["threads"].as<std::string>(), 1, kMaxThreads));
  }
#ifndef _OPENMP
  if (threads > 1) {
    if (values.count("threads")) print_err("lockstep: warning: built without OpenMP: one thread\n");
    threads = 1;
  }
#endif
  const unsigned cores = affinity_cores();
  if (threads > cores) {
    print_err("lockstep: warning: {} threads on {} core{}: slower than {}\n", threads, cores,
              cores == 1 ? "" : "s", cores);
  }
  return threads;
}

gpu::RunOptions engine_options(const po::variables_map& values) {
  gpu::RunOptions options;
  const auto number = [&](const char* name, std::uint64_t low) -> std::uint64_t {
    if (!values.count(name)) return 0;
    return parse_number(fmt::format("--{}", name), values[name].as<std::string>(), low, kAny);
  };
  options.threads = choose_threads(values);
  options.schedule = parse_schedule(values["schedule"].as<std::string>());
  if (values["window"].as<std::string>() != "auto") options.window = number("window", 1);
  options.skip = !values.count("no-skip");
  if (values.count("shuffle")) options.shuffle = number("shuffle", 0);
  if (values.count("kernels")) options.kernels = parse_kernels(values["kernels"].as<std::string>());
  if (values.count("managed")) options.managed = gpu::parse_managed(values["managed"].as<std::string>());
  if (values.count("gpu-memory"))
    options.managed.memory = gpu::parse_gpu_memory(values["gpu-memory"].as<std::string>());
  gpu::check(options.managed);
  if (values.count("sample")) options.sample = sampling::parse_options(values["sample"].as<std::string>());
  options.max_cycles = number("max-cycles", 1);
  options.interval = number("interval", 1);
  options.profile = values.count("profile") > 0;
  return options;
}

void check_folders(const RunArguments& arguments, const po::variables_map& values) {
  if (arguments.folders.empty()) return;
  refuse_idle(values, "run", {"launch"}, "with --device: FOLDER is a trace");
  const gpu::RunOptions& options = arguments.options;
  const std::size_t devices = options.system ? options.system->devices.size() : 1;
  if (arguments.folders.size() > devices)
    throw UserError(fmt::format(
        "--device: {} is not a device of {}, which has {}; expected a system of that many "
        "(-c SYSTEM) or --gpus {}",
        arguments.folders.back().device, options.system ? options.system->name : options.config.gpu.name,
        devices == 1 ? "one" : std::to_string(devices), arguments.folders.size()));
  if (devices > 1 && options.system->devices.front().host.copy_mode != config::CopyMode::kBlocking)
    throw UserError("--device: found host.copy_mode = overlapped, expected blocking with several devices");
}

/// Refuses to write over the trace and over files that options name.
void check_file_names(const RunArguments& arguments, const po::variables_map& values) {
  std::vector<std::string> traces{arguments.trace}, inputs;
  for (const trace::DeviceFolder& folder : arguments.folders) traces.push_back(folder.path);
  for (const char* name : {"config", "launch", "managed", "ranks-map"})
    if (values.count(name)) inputs.push_back(values[name].as<std::string>());
  if (values.count("accelsim-config")) {
    const auto& files = values["accelsim-config"].as<std::vector<std::string>>();
    inputs.insert(inputs.end(), files.begin(), files.end());
  }
  for (const auto& [option, file] :
       {std::pair("--timeline", &arguments.timeline), std::pair("--work-log", &arguments.work_log)}) {
    for (const std::string& trace : traces) refuse_overwriting(option, *file, is_file_of_trace(*file, trace));
    for (const std::string& input : inputs) refuse_overwriting(option, *file, is_same_file(*file, input));
  }
}

}  // namespace

void choose_machine(gpu::RunOptions& options, const po::variables_map& values,
                    const std::vector<std::string>& overrides) {
  const auto& name = values["config"].as<std::string>();
  std::uint32_t count = 0;
  if (values.count("gpus"))
    count = static_cast<std::uint32_t>(
        parse_number("--gpus", values["gpus"].as<std::string>(), 1, config::kMaxDevices));
  config::SystemConfig system =
      config::means_system(name)
          ? config::resolve_system(name, count, overrides)
          : config::unlinked_system(config::resolve(name, overrides), std::max(count, 1u));
  options.config = system.devices.front();
  if (system.linked()) options.system = std::move(system);
}

void add_run_options(po::options_description& options) {
  auto text = [] { return po::value<std::string>(); };
  options.add_options()("config,c", text()->default_value("v100"), "GPU or system: its name or an INI file")(
      "gpus", text(), "number of devices: copies of the GPU without links, or the first ones of the system")(
      "set", po::value<std::vector<std::string>>()->composing(),
      "one configuration value, KEY=VALUE; repeatable")("kernels", text(),
                                                        "only the kernels with these ids, such as 3,7-9")(
      "managed", text(),
      "managed memory, instead of what the trace says: none, all, memcpy (what the trace copies to the "
      "device), "
      "ADDR+SIZE,... or FILE of such")(
      "gpu-memory", text(),
      "device memory for managed pages: a size, or a multiple of the footprint such as 0.8x")(
      "timeline", text(),
      "a file of Chrome trace events: kernels, copies, faults and transfers; for Perfetto")(
      "sample", text(),
      "time only as many launches and CTAs as an estimate needs: error=2%,confidence=95%,seed=1; see "
      "docs/studies/sampling.md")("max-cycles", text(), "stop after this many core cycles")(
      "max-instructions", text(),
      "stop a program's kernel when its kernels have executed this many warp instructions in total")(
      "profile",
      "also profile.json: issues, stalls and memory traffic of each instruction, for `lockstep report`")(
      "interval", text(), "a time series with one row per this many core cycles")(
      "strict", "treat unknown opcodes and Accel-Sim options as errors")(
      "accelsim-stats", "a block of text after each kernel in Accel-Sim's names")(
      "out,o", text(), "folder for stats.json, stats.csv, host.json and the resolved configuration")(
      "quiet,q", "no progress and no summary")("json",
                                               "stats.json on standard output instead of the summary")(
      "all-launches", "one row of the summary for each launch, however many there are")(
      "threads,t", text(), "threads; by default SLURM_CPUS_PER_TASK, OMP_NUM_THREADS or the available cores")(
      "schedule", text()->default_value("dynamic"), "how threads share the work: static or dynamic")(
      "window", text()->default_value("auto"),
      "at most this many core cycles between barriers; auto: as many as the machine allows")(
      "no-skip", "simulate every cycle, even those in which nothing changes")(
      "shuffle", text(), "visit the parts of the GPU in another order, by this seed")(
      "work-log", text(), "a file with the time of each part of the GPU in each window; needs one thread");
  add_checkpoint_options(options);
  add_accelsim_option(options);
  add_check_options(options);
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> parse_kernels(std::string_view text) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  constexpr std::string_view kName = "--kernels";
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const auto dash = part.find('-');
    if (part.empty() || dash == 0 || dash + 1 == part.size())
      throw UserError(fmt::format("{}: found '{}', expected a number or FIRST-LAST", kName, part));
    const std::uint64_t first = parse_number(kName, part.substr(0, dash), 0, kAny);
    const std::uint64_t last =
        dash == std::string_view::npos ? first : parse_number(kName, part.substr(dash + 1), 0, kAny);
    if (last < first) throw UserError(fmt::format("{}: found '{}', expected FIRST-LAST", kName, part));
    ranges.emplace_back(first, last);
    if (comma == std::string_view::npos) return ranges;
    rest.remove_prefix(comma + 1);
  }
}

std::optional<RunArguments> parse_run(int argc, char** argv) {
  const auto values = parse(argc, argv, run_syntax());
  if (!values) return std::nullopt;
  RunArguments arguments = run_arguments("run", *values);
  TraceArgument trace = trace_argument(*values);
  arguments.trace = std::move(trace.path);
  arguments.folders = std::move(trace.folders);
  check_folders(arguments, *values);
  check_file_names(arguments, *values);
  arguments.ranks_map = (*values)["ranks-map"].as<std::string>();
  if (values->count("launch")) arguments.script = (*values)["launch"].as<std::string>();
  if (arguments.script.empty() && arguments.trace.ends_with(".ptx"))
    throw UserError(fmt::format("{} is PTX; expected --launch SCRIPT with it", arguments.trace));
  if (arguments.script.empty())
    refuse_idle(*values, "run", {"ptx-above"}, "with a trace: it has been executed already");
  pass_ptx_option(*values);
  if (arguments.script.empty() && arguments.check.checks.any())
    throw UserError(
        "--check: a trace holds no values; expected a PTX file with --launch, or `lockstep exec`");
  if (arguments.script.empty() && arguments.max_instructions > 0)
    throw UserError(
        "--max-instructions: a trace has been executed already; expected --launch SCRIPT with it");
  return arguments;
}

RunArguments run_arguments(std::string_view command, const po::variables_map& values) {
  RunArguments arguments;
  if (values.count("out")) {
    arguments.out = values["out"].as<std::string>();
    if (arguments.out.empty()) throw UserError("--out: the folder's name is empty");
  }
  if (values.count("timeline")) {
    arguments.timeline = values["timeline"].as<std::string>();
    if (arguments.timeline.empty()) throw UserError("--timeline: the file's name is empty");
  }
  if (arguments.out.empty())
    refuse_idle(values, command, {"interval"},
                "without --out: its series is written to FOLDER/intervals.csv");
  if (arguments.out.empty())
    refuse_idle(values, command, {"profile"}, "without --out: it is written to FOLDER/profile.json");
  if (values.count("sample"))
    refuse_idle(values, command, {"interval", "profile", "accelsim-stats", "work-log"},
                "with --sample: what is not timed has no series, blocks or work");
  if (values.count("max-instructions"))
    arguments.max_instructions =
        parse_number("--max-instructions", values["max-instructions"].as<std::string>(), 1, kAny);
  arguments.strict = values.count("strict") > 0;
  arguments.quiet = values.count("quiet") > 0;
  arguments.all_launches = values.count("all-launches") > 0;
  arguments.json = values.count("json") > 0;
  if (arguments.json)
    refuse_idle(values, command, {"quiet", "all-launches", "accelsim-stats"}, "with --json");
  arguments.check = check_arguments(values);
  arguments.checkpoints = checkpoint_arguments(command, values);
  std::vector<std::string> overrides;
  if (values.count("set")) overrides = values["set"].as<std::vector<std::string>>();
  arguments.options = engine_options(values);
  if (values.count("work-log")) {
    arguments.work_log = values["work-log"].as<std::string>();
    if (arguments.work_log.empty()) throw UserError("--work-log: the file's name is empty");
    if (arguments.options.threads != 1)
      throw UserError(
          fmt::format("--work-log: found {} threads, expected --threads 1", arguments.options.threads));
  }
  arguments.options.timeline = !arguments.timeline.empty();
  arguments.accelsim_stats = values.count("accelsim-stats") > 0;
  const auto& gpu = values["config"];
  arguments.accelsim =
      accelsim_config(values, gpu.defaulted() ? "" : gpu.as<std::string>(), overrides, arguments.strict);
  if (arguments.accelsim) {
    refuse_idle(values, command, {"gpus"}, "with --accelsim-config, which describes one GPU");
    arguments.options.config = arguments.accelsim->resolved.config;
  } else {
    choose_machine(arguments.options, values, overrides);
    if (arguments.options.system)
      refuse_idle(values, command, {"accelsim-stats"}, "with several devices: Accel-Sim has one");
  }
  return arguments;
}

}  // namespace lockstep::cli
