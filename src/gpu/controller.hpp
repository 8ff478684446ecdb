// What happens at global times of a run: kernels' ends, samples, limits, progress, and the end of all.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/feed_set.hpp"
#include "gpu/machine.hpp"
#include "gpu/plan.hpp"
#include "gpu/simulation.hpp"
#include "sim/engine.hpp"
#include "stats/report.hpp"

namespace lockstep::gpu {

/// Builds the report while the machine runs.
///
/// Everything that reaches the report is taken at cuts (a kernel's, the end of an interval, max_cycles, the
/// grid of the watchdog) or when the machine is quiescent, so it is the same for every window. Counters may
/// be fetched between cuts too (for the progress line): they are only added up earlier.
class Controller final : public sim::Controller {
 public:
  /// `report` comes with the fields that describe configuration and trace.
  Controller(const RunOptions& options, const Plan& plan, Machine& machine, FeedSet& feeds,
             const sim::Engine& engine, stats::RunReport report);

  [[nodiscard]] Cycle boundary(Cycle now) override;
  [[nodiscard]] bool stop() const override { return stopped_; }
  void exhausted(Cycle now) override;

  /// Wall seconds of the host during which a kernel ran.
  [[nodiscard]] double kernel_seconds() const;

  /// After the run. Throws std::logic_error naming the domains when all work is done but something is left in
  /// them.
  [[nodiscard]] RunResult result();

 private:
  using Clock = std::chrono::steady_clock;

  void time_kernels();
  void close_finished(Cycle now);
  void close_kernel(const core::Dispatcher::Finished& kernel);
  void note_copies();
  void sample(Cycle now);
  void watch(Cycle now);
  void finish(Cycle now, Outcome outcome);
  void add_partial_kernels(Cycle now);
  void report_progress(Cycle now);
  void collect(std::uint8_t slot);
  void collect_active(Cycle now);
  void collect_rest();
  void refresh_notes();
  void report_managed();
  [[nodiscard]] std::string timeline() const;
  [[nodiscard]] bool work_done() const;
  [[nodiscard]] Cycle next_cut(Cycle now) const;
  [[nodiscard]] stats::KernelResult describe(std::uint32_t kernel) const;
  [[nodiscard]] std::uint64_t activity() const;

  const RunOptions* options_;
  const Plan* plan_;
  Machine* machine_;
  FeedSet* feeds_;
  const sim::Engine* engine_;
  const core::Dispatcher* dispatcher_;

  RunResult result_;
  std::vector<stats::KernelCounters> of_slot_;  // of the running kernels, fetched so far
  std::vector<std::uint8_t> lingering_;         // slots whose kernel has ended and which may still count
  stats::KernelCounters interval_, finished_;   // since the last sample; of all closed kernels
  std::size_t closed_ = 0, copies_noted_ = 0;
  Cycle last_end_ = 0;  // of a kernel or copy
  bool stopped_ = false;
  std::vector<stats::ManagedReport::Sample> residency_;
  std::string left_over_;
  std::vector<uvm::Event> events_;    // of managed memory, for the timeline
  Cycle grid_ = 0, stuck_since_ = 0;  // the watchdog's next look; when activity() last grew
  std::uint64_t last_activity_ = 0;
  Clock::time_point next_progress_{};
  bool kernel_runs_ = false;
  Clock::time_point kernel_since_{};
  Clock::duration kernel_time_{};
};

}  // namespace lockstep::gpu
