#include "cuda/kernel_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "cuda/clock_reads.hpp"
#include "cuda/interrupt.hpp"
#include "cuda/launch.hpp"
#include "exec/executable.hpp"
#include "exec/fault.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {

namespace {

/// Runs `body`, which runs the grid. Where it is interrupted or there is no end to be seen: says where it
/// stands. False: it waits.
template <class Body>
bool guarded(const KernelRun& run, LaunchMonitor& monitor, Body&& body) {
  const exec::Grid& grid = *run.grid;
  const std::string& name = run.source.kernel->name;
  const KernelRuns runs;
  const LaunchMonitor::Scope scope(monitor, name, run.launch.id, grid.ctas(), run.recording.cta);
  try {
    if (body()) return true;
    if (!grid.waits()) end_interrupted(name, grid.dump());
    return false;
  } catch (const exec::DeviceFault& fault) {
    if (fault.kind() == exec::FaultKind::kInstructionLimit)
      print_err("lockstep: kernel {} has no end within --{}; its warps stand at\n{}", name, run.limit,
                grid.dump());
    throw;
  }
}

/// From the run's next CTA on.
bool run_grid(KernelRun& run, LaunchMonitor& monitor) {
  exec::Grid& grid = *run.grid;
  return guarded(run, monitor, [&] {
    std::uint64_t& cta = run.recording.cta;
    if (cta == 0 && run.awaited.empty() && grid.run_concurrently()) return true;
    for (; cta < grid.ctas(); ++cta)
      if (!grid.run_cta(cta, nullptr)) return false;
    return true;
  });
}

/// The instructions that can be issued in the given cycles, with slack for PTX that machine code does
/// without.
std::uint64_t instructions_of_cycles(const Settings& settings, std::uint64_t ctas) {
  constexpr std::uint64_t kSlack = 4;
  const std::uint64_t sms = std::min<std::uint64_t>(settings.gpu.gpu.sms, ctas);
  return settings.max_cycles * settings.gpu.sm.subcores * sms * kSlack;
}

/// The stricter one of --max-cycles, where the kernel is `simulated`, and --max-instructions, of which
/// `executed` are used up.
void bound(KernelRun& run, const Settings& settings, bool simulated, std::uint64_t executed) {
  std::uint64_t& limit = run.options.max_instructions;
  if (settings.max_cycles > 0 && simulated) {
    limit = instructions_of_cycles(settings, run.launch.grid.count());
    run.limit = "max-cycles";
  }
  if (settings.max_instructions == 0) return;
  const std::uint64_t left = settings.max_instructions - std::min(settings.max_instructions, executed);
  if (left > limit) return;
  limit = left;
  run.limit = "max-instructions";
}

/// For the report, in which nothing depends on folders or on where the system puts memory.
FailedKernel failed_kernel(const KernelRun& run, const std::string& error) {
  FailedKernel failed;
  failed.name = run.source.kernel->name;
  failed.grid = run.launch.grid;
  failed.block = run.launch.block;
  failed.error = error;
  failed.ctas = run.recording.cta;
  if (run.grid) failed.instructions = run.grid->counts().warp_instructions;
  return failed;
}
FailedKernel failed_kernel(const KernelRun& run, const exec::DeviceFault& fault) {
  const exec::FaultSite& at = fault.site();
  FailedKernel failed =
      failed_kernel(run, fmt::format("{}, line {} of {}, CTA ({},{},{}), thread ({},{},{}) [{}]",
                                     status_text(fault_status(fault.kind())), at.line,
                                     std::filesystem::path(at.module).filename().string(), at.cta.x, at.cta.y,
                                     at.cta.z, at.thread.x, at.thread.y, at.thread.z, at.instruction));
  if (fault.kind() == exec::FaultKind::kInstructionLimit) failed.limit = run.limit;
  return failed;
}

bool reads_clock(const exec::Executable& kernel) {
  const auto& code = kernel.operations();
  return std::any_of(code.begin(), code.end(), [](const exec::Operation& o) { return o.reads_clock; });
}

}  // namespace

KernelRunner::KernelRunner(const KernelSurroundings& with)
    : with_(with),
      has_signals_(with.devices.count() > 1),
      agent_(with.memory, signals_),
      messages_(with.memory, agent_),
      access_sets_(with.memory.arena_bytes()),
      execution_(with.settings.execution) {}

void KernelRunner::attach(const shmem::World& world) {
  Recorder* const recorder = with_.recording.recorder();
  if (recorder != nullptr && !with_.settings.profile_from_start)
    throw UserError(
        "--profile-from-start off: the program's kernels use the network, which is recorded from the start; "
        "expected on");
  if (recorder != nullptr) agent_.keep_commands();
  agent_.attach(world);
  has_signals_ = true;
  if (recorder == nullptr) return;
  recorder->record_signals();
  recorder->before_kernels([this](StreamLog& log) {
    while (serve(current_device())) {
    }
    for (const trace::Command& command : agent_.take_commands()) log.add_network(command);
  });
}

bool KernelRunner::serve(unsigned device) {
  try {
    return agent_.serve(device);
  } catch (const shmem::BadEntry& bad) {
    Status& sticky = with_.devices[device].sticky;
    sticky = Status::kErrorLaunchFailure;
    throw ApiError(sticky, bad.what());
  }
}

std::unique_ptr<KernelRun> KernelRunner::begin(KernelLaunch source, bool may_wait) {
  auto run = std::make_unique<KernelRun>();
  run->source = std::move(source);
  const KernelLaunch& l = run->source;
  exec::Launch& launch = run->launch;
  launch.kernel = &l.kernel->executable();
  launch.grid = {l.grid.x, l.grid.y, l.grid.z};
  launch.block = {l.block.x, l.block.y, l.block.z};
  const abi::dim3 cluster = l.cluster.value_or(abi::dim3{});
  launch.cluster = {cluster.x, cluster.y, cluster.z};
  launch.dynamic_shared_bytes = static_cast<std::uint32_t>(l.dynamic_shared);
  launch.parameters = l.parameters;
  launch.cooperative = l.cooperative;
  launch.id = ++launches_;
  launch.device = current_device();
  const Settings& settings = with_.settings;
  exec::RunOptions& options = run->options;
  options.textures = &with_.textures;
  options.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  options.stack_bytes = static_cast<std::uint32_t>(with_.devices.current().stack_bytes());
  options.heap = &with_.devices.current().heap();
  options.shared_unit = settings.gpu.sm.shared_unit;
  options.sm_count = settings.gpu.gpu.sms;
  options.sm_threads = settings.gpu.sm.max_threads;
  options.sm_ctas = settings.gpu.sm.max_ctas;
  options.threads = settings.threads;
  options.interleave = settings.interleave;
  options.access_sets = &access_sets_;
  options.checker = with_.findings.checker();
  options.children = &run->children;
  options.interrupt = interrupt_flag();
  options.observer = &monitor_;
  bound(*run, settings, !with_.recording.is_outside(), executed_);
  options.may_wait = may_wait;
  const Recorder* const recorder = with_.recording.recorder();
  const bool signals = has_signals_ || (recorder != nullptr && recorder->records_signals(*launch.kernel));
  if (signals && !with_.recording.is_outside()) options.signals = &signals_;  // what is counted is timed
  if (agent_.attached()) options.server = [this, device = launch.device] { return serve(device); };
  return run;
}

bool KernelRunner::run(KernelRun& run, const StreamState& stream) {
  struct Saver {  // also after a fault: the program may end by a signal
    ~Saver() { findings.save(); }
    FindingsFile& findings;
  } const saver{with_.findings};
  if (!execute(run, stream)) {
    if (run.grid) run.awaited = run.grid->awaited();
    return false;
  }
  while (serve(run.launch.device)) {
  }
  executed_ += run.grid->counts().warp_instructions;
  run.grid.reset();  // its memory is free for what follows
  if (!run.children.empty()) run_children(run.children, run.source, stream);
  return true;
}

bool KernelRunner::execute(KernelRun& run, const StreamState& stream) {
  Recorder* const recorder = with_.recording.recorder();
  if (recorder == nullptr || with_.recording.is_outside()) {
    (void)with_.recording.enter(stream);
    if (!run.grid) run.grid.emplace(run.launch, with_.memory, run.options);
    return run_grid(run, monitor_);
  }
  try {
    return execute_recorded(run, stream);
  } catch (const exec::DeviceFault& fault) {
    recorder->send_failed(failed_kernel(run, fault));
    throw;
  } catch (const ApiError& bad) {  // an entry of a network queue
    recorder->send_failed(failed_kernel(run, bad.what()));
    throw;
  }
}

bool KernelRunner::execute_recorded(KernelRun& run, const StreamState& stream) {
  (void)with_.recording.enter(stream);
  const KernelLaunch& l = run.source;
  run.header = launch_header(*l.kernel, l, with_.settings.gpu);
  run.header.stream = stream.number;
  const DeviceState& device = with_.devices.current();
  run.header.l2 = l.l2;
  run.header.l2.set_aside = device.limit(kLimitPersistingL2);
  run.header.l2.resets = device.l2_resets;
  run.header.shared_base = exec::kSharedWindow;
  run.header.shared_ranks = true;
  run.header.local_base = exec::kLocalWindow;
  if (with_.recording.live() && reads_clock(*run.launch.kernel)) {
    // Where it may wait for another GPU's kernel, or for the network, it cannot be executed alone before it
    // is simulated.
    const bool alone = !has_signals_ || run.launch.kernel->spins().empty();
    if (alone) return execute_clocked(run, stream);
    with_.warnings.once(
        run.header.name +
        ": it may wait for kernels of other GPUs or for the network, so that its clock counts executed "
        "instructions");
  }
  if (!run.grid) run.grid.emplace(run.launch, with_.memory, run.options);
  Recorder& recorder = *with_.recording.recorder();
  return guarded(run, monitor_, [&] { return recorder.kernel(*run.grid, l, run.header, run.recording); });
}

/// Once in a process of its own, for the trace; then, simulated, here with the times at which it read its
/// clocks. Where it waits there, nothing has happened here.
bool KernelRunner::execute_clocked(KernelRun& run, const StreamState& stream) {
  exec::RunOptions options = run.options;
  options.print = {};
  options.checker = nullptr;  // what it finds is found again here
  Recorder& recorder = *with_.recording.recorder();
  const auto make = [&] { return exec::Grid(run.launch, with_.memory, options); };
  const auto rehearsal = recorder.rehearse(make, run.source, run.header, run.recording);
  if (rehearsal == Recorder::Rehearsal::kWaits) return false;
  std::optional<ClockReads> reads;
  options = run.options;
  options.may_wait = false;
  if (rehearsal == Recorder::Rehearsal::kDone) {
    with_.recording.wait_stream(stream, StreamLog::Waiter::kRuntime);
    auto cycles = recorder.query_clocks();
    if (!cycles.empty()) {
      reads.emplace(std::move(cycles), run.header.warps_per_cta(), with_.settings.gpu.clock.core_khz);
      options.clock = reads->source();
    }
  }
  run.grid.emplace(run.launch, with_.memory, options);
  (void)run_grid(run, monitor_);
  if (reads && reads->differed())
    with_.warnings.once(run.header.name +
                        ": what it executes depends on its clock; it is timed as with a clock that counts "
                        "executed instructions");
  return true;
}

}  // namespace lockstep::cuda
