// What happens at global times of a run: kernels' ends, samples, limits, progress, and the end of all.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gpu/feed_set.hpp"
#include "gpu/kernel_ledger.hpp"
#include "gpu/plan.hpp"
#include "gpu/rank_report.hpp"
#include "gpu/ranked_run.hpp"
#include "gpu/sampled_run.hpp"
#include "gpu/simulation.hpp"
#include "gpu/system.hpp"
#include "sim/engine.hpp"
#include "stats/report.hpp"

namespace lockstep::gpu {

/// Builds the report while the system runs. Cycles of the whole run (its length, samples, limits) are those
/// of device 0.
///
/// Everything that reaches the report is taken at cuts (a kernel's, the end of an interval, max_cycles, the
/// grid of the watchdog) or when the system is quiescent, so it is the same for every window. Counters may
/// be fetched between cuts too (for the progress line): they are only added up earlier.
class Controller final : public sim::Controller {
 public:
  /// `report` comes with the fields that describe configuration and trace.
  Controller(const RunOptions& options, const Plan& plan, System& system, FeedSet& feeds,
             const sim::Engine& engine, stats::RunReport report);

  /// Before the run, of a run by samples; not owned.
  void set_sampled(SampledRun& sampled) { sampled_ = &sampled; }
  /// Before the run, where this is one of several ranks; not owned.
  void set_ranks(RankedRun& ranks) {
    ranks_ = &ranks;
    rank_report_.emplace(ranks);
  }
  [[nodiscard]] Time boundary(Time now) override;
  [[nodiscard]] bool stop() const override { return stopped_; }
  void exhausted(Time now) override;

  /// Before the run, where states are to be kept: takes one.
  void set_keeper(std::function<std::string()> keeper) { keeper_ = std::move(keeper); }

  /// Wall seconds of the host during which a kernel ran.
  [[nodiscard]] double kernel_seconds() const;

  /// After the run. Throws std::logic_error naming the domains when all work is done but something is left in
  /// them.
  [[nodiscard]] RunResult result();

  /// At a cut that boundary() has dealt with, when all kernels that have ended are closed.
  template <class A>
  void persist(A& a) {
    stats::RunReport& report = result_.report;
    a(report.total_cycles, report.kernels, report.codes, report.copies, report.intervals,
      report.unattributed);
    a.members(*this, a.given(options_), a.given(plan_), a.given(system_), a.given(feeds_), a.given(engine_),
              a.given(host_), a.given(sampled_), a.given(ranks_), a.given(rank_report_), a.given(gmmus_),
              a.given(result_), profiles_, ledgers_, copies_noted_, last_end_, a.given(stopped_),
              a.given(keeper_), a.given(resumed_), residency_, a.given(left_over_), events_,
              a.given(managed_events_), grid_, stuck_since_, last_activity_, a.given(next_progress_),
              a.given(kernel_runs_), a.given(kernel_since_), a.given(kernel_time_));
    resumed_ = a.reading();
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool quiescent() const;
  [[nodiscard]] bool interrupted() const;
  [[nodiscard]] bool lock_overdue(Time now) const;
  [[nodiscard]] bool is_still() const;
  void gather_ranks();
  void manage();
  void time_kernels();
  void close_finished(Time now);
  void stop_for_samples(Time now);
  void note_copies();
  void settle(Time now);
  void collect_active(Time now);
  void sample(Time now);
  void watch(Time now);
  void finish(Time now, Outcome outcome);
  void keep_state(Time now);
  void report_progress(Time now);
  void refresh_notes();
  void report_managed();
  void note_events(std::uint16_t device);
  void complete_samples(stats::RunReport& report);
  void note_links();
  [[nodiscard]] stats::ManagedReport managed_of(std::uint16_t device);
  [[nodiscard]] std::string timeline() const;
  void act_at(Time now);
  // The host's commands are the same in all ranks; networks_idle() is of this one.
  [[nodiscard]] bool commands_done() const;
  [[nodiscard]] bool networks_idle() const;
  [[nodiscard]] bool work_done() const;
  [[nodiscard]] bool any_active() const;
  [[nodiscard]] Time next_cut(Time now) const;
  [[nodiscard]] stats::IntervalSample take_interval(Time now);
  [[nodiscard]] std::uint64_t activity() const;

  const RunOptions* options_;
  const Plan* plan_;
  System* system_;
  FeedSet* feeds_;
  const sim::Engine* engine_;
  const host::Host* host_;
  SampledRun* sampled_ = nullptr;
  RankedRun* ranks_ = nullptr;
  std::optional<RankReport> rank_report_;  // with ranks
  std::vector<core::GmmuDomain*> gmmus_;   // by device; null: in another rank; empty without managed memory

  RunResult result_;
  ProfileBook profiles_{result_.report.codes};
  std::vector<KernelLedger> ledgers_;  // by device
  std::size_t copies_noted_ = 0;
  Time last_end_ = 0;  // of a kernel, copy or task
  bool stopped_ = false;
  std::function<std::string()> keeper_;
  bool resumed_ = false;  // what is due now was dealt with before the state was kept
  std::vector<std::vector<stats::ManagedReport::Sample>> residency_;  // by device
  std::string left_over_;
  std::vector<std::vector<uvm::Event>> events_;  // of managed memory, by device, for the timeline
  std::vector<TimelineEvent> managed_events_;    // likewise, at the end
  Cycle grid_ = 0, stuck_since_ = 0;             // the watchdog's next check; when activity() last grew
  std::uint64_t last_activity_ = 0;
  Clock::time_point next_progress_{};
  bool kernel_runs_ = false;
  Clock::time_point kernel_since_{};
  Clock::duration kernel_time_{};
};

}  // namespace lockstep::gpu
