// One run: a trace on a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/gpu_config.hpp"
#include "config/system_config.hpp"
#include "gpu/managed.hpp"
#include "sampling/options.hpp"
#include "sim/work_log.hpp"
#include "stats/report.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::ranks {
class Group;
}

namespace lockstep::gpu {

class Program;

enum class Schedule : std::uint8_t { kStatic, kDynamic };

struct Progress {
  std::string kernel;  // the oldest running kernel; empty between kernels
  std::uint64_t kernels_done = 0, kernels_total = 0;
  std::uint64_t ctas_done = 0, ctas_total = 0;  // of the running kernels
  std::uint64_t warp_instructions = 0;          // so far, whole run
  Cycle cycle = 0;
};

/// States of a run between kernels, for another process to go on from. They are taken where no warp is
/// resident, and change nothing.
struct CheckpointOptions {
  enum class Decision : std::uint8_t {
    kNone,
    kKeep,  // keep() as soon as the state can be taken
    kStop   // the run ends here, as if it was interrupted
  };
  /// Serial, between windows. `kernels`: complete ones. Null: no states are taken.
  std::function<Decision(std::uint64_t kernels)> decide;
  /// Serial. True: the run ends here, as if it was interrupted.
  std::function<bool(std::string_view state, std::uint64_t kernels)> keep;
  /// To go on from; of the same configuration, trace and options but those of the host. Empty: the run
  /// begins.
  std::string_view resume;
};

/// None of threads, schedule, window, skip, shuffle and ranks changes a byte of the report.
struct RunOptions {
  config::GpuConfig config;                    // of the GPU; not looked at where there is a system
  std::optional<config::SystemConfig> system;  // of several devices
  unsigned threads = 1;
  Schedule schedule = Schedule::kDynamic;
  Cycle window = 0;                      // core cycles; 0 = the machine's own; more than that is a UserError
  bool skip = true;                      // false: visit every cycle of every awake domain
  std::optional<std::uint64_t> shuffle;  // seed: visit domains in another order
  std::vector<std::pair<std::uint64_t, std::uint64_t>> kernels;  // ranges of kernel ids; empty = all
  ManagedOptions managed;                                        // which memory of the trace is managed
  Cycle max_cycles = 0;                                          // 0 = none
  std::optional<sampling::Options> sample;                       // time only some launches and CTAs
  bool timeline = false;                                         // keep what RunResult::timeline needs
  bool profile = false;                                          // count what each instruction does
  Cycle interval = 0;                   // cycles between samples of the time series; 0 = none
  CheckpointOptions checkpoint;         // of a trace; not with `sample`
  ranks::Group* group = nullptr;        // this process is one of several that simulate the system; not owned
  std::vector<std::uint32_t> rank_map;  // with it: by node, its rank (gpu/rank_map.hpp)
  sim::WorkLog* work_log = nullptr;     // to be filled; needs threads = 1
  std::function<void(const Progress&)> on_progress;             // serial, at most ten times a second
  std::function<void(const stats::RunReport&)> on_kernel_done;  // serial: the report so far, marked partial
  std::function<bool()> interrupted;                            // serial: true = stop at this window's end
};

enum class Outcome : std::uint8_t { kDone, kMaxCycles, kInterrupted, kDeadlock };

struct RunResult {
  Outcome outcome = Outcome::kDone;
  stats::RunReport report;
  stats::HostReport host;  // fields of the engine; the caller adds date, host and command
  std::string timeline;    // RunOptions::timeline: Chrome trace events (timeline.hpp)
  std::string dump;        // deadlock: each warp's state, stall reason, queues, outstanding misses
};

/// Throws UserError / InputError for what the user can mend.
[[nodiscard]] RunResult simulate(const trace::TraceSet& trace, const RunOptions& options);

/// Likewise, while the program runs: it is simulated as far as its commands are known. The report is that of
/// the same commands and kernels as a trace. options.managed: what the program has managed, or nothing; no
/// share of the footprint, which is known at the end only.
[[nodiscard]] RunResult simulate(Program& program, const RunOptions& options);

/// Text of `lockstep config --explain window`: every channel with its latency, and what bounds windows.
[[nodiscard]] std::string explain_window(const config::GpuConfig& config);

}  // namespace lockstep::gpu
