// A run that times some launches, and some CTAs of long ones, and estimates the others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/launch_choice.hpp"
#include "gpu/feed_set.hpp"
#include "gpu/kernel_ledger.hpp"
#include "gpu/plan.hpp"
#include "gpu/system.hpp"
#include "sampling/cta_sampler.hpp"
#include "sampling/launch_sampler.hpp"
#include "sampling/options.hpp"
#include "stats/report.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::gpu {

/// For one device without managed memory. A launch that is not timed holds its stream as long as its group's
/// prediction says and leaves no trace in the machine. Before a launch is timed, the latest launches that
/// were not, and have not yet been, are passed over the L2's tags: of Options::warm_up times its
/// instructions, at least two, going back until they have asked the L2 for four times its size. Likewise
/// before CTAs of a long kernel are timed again, the latest of those that were left out: what lies further
/// back is not even read.
///
/// What is timed depends on what was measured up to the last cut; choices, stops and results are at cuts
/// (Controller), so that neither threads nor windows change it.
class SampledRun final : public core::LaunchChooser {
 public:
  /// Reads how much each launch executes: from the trace, or where that does not say it all its CTAs. All
  /// must outlive it. Throws UserError: several devices, managed memory.
  SampledRun(const sampling::Options& options, const trace::TraceSet& trace, const Plan& plan, System& system,
             FeedSet& feeds);

  [[nodiscard]] core::LaunchChoice choose(std::uint32_t command, std::uint8_t slot) override;
  [[nodiscard]] Cycle left_out_cycles(std::uint8_t slot) override;

  // For the controller, at cuts.
  /// The next stop that was asked for, in core cycles; kNever.
  [[nodiscard]] Cycle next_cut() const;
  /// Stops that are due. `ledger`: the device's, which has been settled.
  void stop(Cycle now, KernelLedger& ledger);
  /// A kernel's result, before it goes into the report as number `index`.
  void close(const KernelLedger::Finished& kernel, stats::KernelResult& result, std::size_t index,
             stats::KernelCounters& unattributed);
  /// At the end: launches that were not timed get predictions from all that were.
  void complete(stats::RunReport& report) const;

 private:
  struct Timed {
    std::uint32_t launch = 0;
    std::optional<sampling::CtaSampler> ctas;  // of a long kernel
    std::vector<std::uint32_t> warm_ups;       // launches, oldest first
    Cycle held = 0;                            // for CTAs that were left out
  };
  struct Untimed {
    std::uint32_t launch = 0;
    std::size_t index = 0;  // in the report
  };
  [[nodiscard]] std::vector<std::uint32_t> take_warm_ups(std::uint32_t launch);
  [[nodiscard]] std::optional<sampling::CtaSampler> cta_sampler(std::uint32_t launch) const;
  void warm_up(const Timed& timed);
  void at_mark(const core::Dispatcher::Stop& stop, Cycle now, KernelLedger& ledger);
  [[nodiscard]] std::uint64_t ctas_to_pass(const sampling::CtaSampler& ctas, const sampling::Measures& so_far,
                                           std::uint64_t timed) const;
  void predict_rest(stats::KernelResult& result, const Timed& timed, sampling::Measures& measures,
                    sampling::LaunchSampler::Own& own);
  [[nodiscard]] double correct_kernels(stats::RunReport& report) const;

  sampling::Options options_;
  const trace::TraceSet* trace_;
  Device* device_;
  FeedSet* feeds_;
  std::vector<std::uint32_t> launch_of_;  // by the host's command
  std::vector<std::uint32_t> kernel_of_;  // by launch: the trace's kernel
  std::optional<sampling::LaunchSampler> launches_;
  std::vector<Timed> timed_;                // by kernel slot
  std::vector<std::uint32_t> passed_over_;  // launches that were not timed and may be warmed up with
  std::vector<Untimed> untimed_;
  std::size_t stops_done_ = 0;
  double grown_ = 0;  // kernels' cycles, against those that they were held for
  std::uint64_t ctas_ = 0, ctas_timed_ = 0, launches_timed_ = 0, launches_done_ = 0;
};

}  // namespace lockstep::gpu
