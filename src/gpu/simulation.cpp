#include "gpu/simulation.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "config/config.hpp"
#include "gpu/controller.hpp"
#include "gpu/ranked_run.hpp"
#include "gpu/run.hpp"
#include "gpu/run_state.hpp"
#include "gpu/sampled_run.hpp"
#include "ranks/group.hpp"
#include "util/error.hpp"

namespace lockstep::gpu {
namespace {

using Clock = std::chrono::steady_clock;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

/// The longest window between cells: as long as all inboxes allow, if no shorter one is asked for.
Time choose_cell_window(const RunOptions& options, System& system) {
  if (options.window != 0) return system.time(0, options.window);
  Time longest = kNever;
  for (std::uint16_t d = 0; d < system.devices(); ++d)
    longest = std::min(longest, system.time(d, sim::kInboxWindow));
  return longest;
}

/// The window to run with, in the engine's time base.
Time choose_window(const RunOptions& options, System& system, const SystemWindow& longest) {
  const std::string& name = system.device(longest.device).config().gpu.name;
  const WindowLimit& limit = longest.limit;
  if (limit.cycles == 0)
    throw UserError("configuration " + name + " cannot be simulated: " + limit.reason +
                    "; every latency must be at least one core cycle");
  const Time asked = system.time(0, options.window);
  if (asked > longest.time)
    throw UserError(fmt::format("window of {} core cycles is too long for {}: at most {}, because {}",
                                options.window, name, limit.cycles, limit.reason));
  return asked ? asked : longest.time;
}

void check_limits(const config::GpuConfig& config) {
  constexpr std::uint32_t kMaxKernels = 254;  // slots are bytes; copies have one of their own
  if (config.launch.max_kernels == 0 || config.launch.max_kernels > kMaxKernels)
    throw UserError(
        fmt::format("launch.max_kernels is {}, expected 1 to {}", config.launch.max_kernels, kMaxKernels));
  if (config.host.page_bytes == 0 || config.host.page_bytes % kLineBytes != 0)
    throw UserError(
        fmt::format("host.page_bytes is {}, expected a multiple of {}", config.host.page_bytes, kLineBytes));
  if (config.host.bytes_per_second == 0) throw UserError("host.bytes_per_second is 0");
}

stats::RunReport empty_report(const trace::TraceSet& trace, const config::SystemConfig& system) {
  const config::GpuConfig& config = system.devices[0];
  stats::RunReport report;
  report.gpu = config.gpu.name;
  report.overrides = config::overrides(config);
  report.config_hash = config::hash(config);
  report.trace_name = trace.name();
  report.trace_hash = trace.content_hash();
  report.core_khz = config.clock.core_khz;
  report.energy_source = config.energy.source;
  report.partial = true;  // until the end
  if (!system.linked()) return report;
  report.system.emplace().name = system.name;
  for (const config::GpuConfig& device : system.devices)
    report.system->devices.push_back({device.gpu.name, config::hash(device), device.clock.core_khz});
  return report;
}

sim::EngineOptions engine_options(const RunOptions& options) {
  sim::EngineOptions engine;
  engine.threads = std::max(options.threads, 1u);
  engine.dynamic = options.schedule == Schedule::kDynamic;
  engine.skip = options.skip;
  engine.shuffle = options.shuffle;
  engine.work_log = options.work_log;
  return engine;
}

stats::HostReport host_report(const RunOptions& options, const sim::Engine& engine,
                              const stats::RunReport& report) {
  const sim::EngineProfile& profile = engine.profile();
  const auto seconds = [&](sim::DomainKind kind) {
    return profile.domain_seconds[static_cast<unsigned>(kind)];
  };
  stats::HostReport host;
  host.threads = std::max(options.threads, 1u);
  host.schedule = options.schedule == Schedule::kDynamic ? "dynamic" : "static";
  for (const stats::KernelResult& kernel : report.kernels)
    host.warp_instructions += kernel.counters.sm.warp_instructions;
  host.cycles = report.total_cycles;
  host.windows = profile.windows;
  host.barriers = profile.shared_windows;
  host.awake_domains = profile.awake_domains;
  host.window_cycles = profile.window_cycles;
  host.skipped_cycles = engine.now() > profile.window_cycles ? engine.now() - profile.window_cycles : 0;
  host.seconds_sm = seconds(sim::DomainKind::kSm);
  host.seconds_memory = seconds(sim::DomainKind::kMemory);
  host.seconds_other = seconds(sim::DomainKind::kOther);
  host.seconds_exchange = profile.exchange_seconds;
  host.seconds_decode = profile.task_seconds;
  host.seconds_waiting = profile.wait_seconds;
  host.seconds_serial = profile.serial_seconds;
  host.seconds_alone = profile.alone_seconds;
  host.seconds_longest_share = profile.largest_share;
  host.seconds_mean_share = profile.mean_share;
  host.seconds_busy = profile.busy_seconds;
  host.peak_rss_bytes = peak_rss_bytes();
  return host;
}

/// Copies fill the L2 unless that is switched off, so that kernels may find their data there. Said where that
/// is at least a fifth of what they would have read from the DRAM.
void note_warm_l2(stats::RunReport& report, const config::GpuConfig& config) {
  if (!config.host.warms_l2 || config.launch.cache_control != config::CacheControl::kNone) return;
  std::uint64_t copied = 0, hits = 0, bursts = 0;
  for (const stats::CopyResult& copy : report.copies)
    if (copy.kind == "host_to_device") copied += copy.bytes;
  for (const stats::KernelResult& kernel : report.kernels) {
    const stats::PartitionCounters& mem = kernel.counters.mem;
    hits += mem.l2.read_hits - mem.l2_fetch_hits;
    bursts += mem.dram_reads;
  }
  const auto& l2 = config.l2;
  const std::uint64_t l2_bytes = std::uint64_t{l2.partitions} * l2.slices_per_partition * l2.slice_bytes;
  const std::uint64_t warm = std::min(copied, l2_bytes);
  if (hits == 0 || warm == 0 || warm * 4 < bursts * config.dram.burst_bytes) return;
  report.remarks.emplace_back(
      "copies to the device left their data in the L2, where kernels found it: little DRAM traffic; "
      "--set host.warms_l2=false starts with a cold L2");
  std::sort(report.remarks.begin(), report.remarks.end());
}

/// What a run simulates: a trace, or a program that makes it meanwhile.
struct Input {
  const trace::TraceSet& trace;
  ProgramLog* program = nullptr;
  bool manages = false;  // the program has managed memory
};

Plan plan_for(const Input& input, const RunOptions& options, config::SystemConfig& system) {
  if (input.program) {
    Plan plan;
    plan.manages = input.manages;
    if (plan.manages) plan.managed_frames = managed_frames(plan.managed, options.managed, system);
    return plan;
  }
  Plan plan = make_plan(input.trace, system, options.kernels, options.managed);
  // Slots are taken in turn, so a run uses no more than it has kernels; every domain has counters for each.
  for (config::GpuConfig& device : system.devices)
    device.launch.max_kernels = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(plan.kernel_commands, 1, device.launch.max_kernels));
  return plan;
}

void check_keepable(const Input& input, const RunOptions& options) {
  if (!options.checkpoint.decide && options.checkpoint.resume.empty()) return;
  if (input.program || options.sample)
    throw std::logic_error("the state of a program, or of a run by samples, cannot be kept");
}

RankMap rank_map(const RunOptions& options) {
  if (!options.group) return {};
  return {options.group->rank(), options.group->size(), options.rank_map};
}

/// What needs the whole system in one process.
void check_ranks(const Input& input, const RunOptions& options) {
  if (!options.group) return;
  const char* refused = nullptr;
  if (input.program) refused = "a program that runs meanwhile";
  if (options.sample) refused = "--sample";
  if (options.profile) refused = "--profile";
  if (options.work_log) refused = "--work-log";
  if (options.checkpoint.decide || !options.checkpoint.resume.empty()) refused = "--checkpoint and --resume";
  if (refused)
    throw UserError(
        fmt::format("several processes (mpirun) cannot simulate this together: {}; expected one "
                    "process",
                    refused));
}

/// Nothing when the program turns out to have managed memory and `input` says otherwise.
std::optional<RunResult> try_run(const Input& input, const RunOptions& options, const Builder& builder,
                                 const TestHooks& hooks) {
  const auto wall_start = Clock::now();
  const double cpu_start = cpu_seconds();
  const config::SystemConfig asked =
      options.system ? *options.system : config::unlinked_system(options.config, 1);
  for (const config::GpuConfig& device : asked.devices) check_limits(device);
  config::SystemConfig machine = asked;
  check_keepable(input, options);
  if (machine.devices.size() == 1 && (!options.kernels.empty() || options.sample))
    machine.devices.front().sync.signals_complete = false;
  Plan plan = plan_for(input, options, machine);
  sim::Engine engine(engine_options(options));
  const RankMap map = rank_map(options);
  check_ranks(input, options);
  System system(engine, machine, plan, builder, options.skip, map);
  SystemWindow longest = window_limit(system);
  if (hooks.late_copies) {
    system.device(0).dispatcher().allow_late_copies();
    longest = {16, {16, "test"}, 0};
  }
  engine.set_window(choose_window(options, system, longest), choose_cell_window(options, system));
  engine.set_cells(system.cells());
  std::optional<ProgramSource> source;
  if (input.program) {
    source.emplace(*input.program, machine, options, plan, system.host());
    system.host().set_source(*source);
  }
  FeedSet feeds(input.trace, system);
  engine.set_tasks(feeds);
  Controller controller(options, plan, system, feeds, engine, empty_report(input.trace, asked));
  std::optional<SampledRun> sampled;
  if (options.sample) {
    sampled.emplace(*options.sample, input.trace, plan, system, feeds);
    controller.set_sampled(*sampled);
  }
  std::optional<RankedRun> ranks;
  if (options.group) {
    ranks.emplace(*options.group, map, engine, system, options.interrupted);
    engine.set_border(*ranks);
    controller.set_ranks(*ranks);
  }
  const RunState state{&engine, &system, &feeds, &controller};
  if (options.checkpoint.decide) controller.set_keeper([&state] { return keep(state); });
  if (!options.checkpoint.resume.empty()) restore(options.checkpoint.resume, state);
  engine.run(controller);
  if (plan.needs_gmmu) return std::nullopt;

  RunResult result = controller.result();
  result.report.trace_name = input.trace.name();  // a program's is known at its end
  result.report.trace_hash = input.trace.content_hash();
  note_warm_l2(result.report, asked.devices[0]);
  result.host = host_report(options, engine, result.report);
  result.host.seconds_kernels = controller.kernel_seconds();
  result.host.wall_seconds = std::chrono::duration<double>(Clock::now() - wall_start).count();
  result.host.cpu_seconds = cpu_seconds() - cpu_start;
  if (ranks) {
    stats::HostReport::Rank own;
    own.devices = static_cast<std::uint64_t>(
        std::count(map.of_node.begin(), map.of_node.begin() + system.devices(), map.here));
    own.threads = result.host.threads;
    own.synchronisations = ranks->synchronisations();
    own.cpu_seconds = result.host.cpu_seconds;
    own.peak_rss_bytes = result.host.peak_rss_bytes;
    result.host.ranks = gather_hosts(*options.group, std::move(own));
  }
  return result;
}

}  // namespace

RunResult run(const trace::TraceSet& trace, const RunOptions& options, const Builder& builder,
              const TestHooks& hooks) {
  return try_run({trace}, options, builder, hooks).value();
}

RunResult run(ProgramLog& program, const RunOptions& options, const Builder& builder) {
  const trace::TraceSet& trace = program.program().trace();
  if (auto result = try_run({trace, &program, false}, options, builder, {})) return std::move(*result);
  program.rewind();
  if (options.work_log) *options.work_log = {};
  return try_run({trace, &program, true}, options, builder, {}).value();
}

RunResult simulate(const trace::TraceSet& trace, const RunOptions& options) {
  return run(trace, options, real_parts(options.profile));
}

RunResult simulate(Program& program, const RunOptions& options) {
  ProgramLog log(program);
  return run(log, options, real_parts(options.profile));
}

std::string explain_window(const config::GpuConfig& config) {
  const icnt::Fabric fabric(config);
  const WindowLimit limit = window_limit(config, fabric);
  std::string text = fmt::format(
      "windows of {}: at most {} core cycles, because {};\n"
      "shorter where something is due whose message would arrive earlier\n\n{:>12}  channel\n",
      config.gpu.name, limit.cycles, limit.reason, "core cycles");
  for (const icnt::Edge& edge : fabric.edges())
    text += fmt::format("{:>12}  {}: {}\n", edge.latency, edge.name, edge.reason);
  return text;
}

}  // namespace lockstep::gpu
