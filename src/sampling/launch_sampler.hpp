// Which launches of a program are timed, and what they say of all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sampling/estimate.hpp"
#include "sampling/fit.hpp"
#include "sampling/grouping.hpp"
#include "sampling/options.hpp"

namespace lockstep::sampling {

/// Two stages in each group. Pilot: its first launch, which counts for itself alone, as it finds caches cold,
/// and the launches after it until two are measured. Then optimum allocation (allocation.hpp), with the
/// measured scatter and a prior for groups of which little is known, says how many more are to be timed; the
/// launches that are left are cut into that many intervals of equal length; in each, one launch is timed, at
/// a place that the seed says. The allocation is renewed at the beginning of each interval, and when the
/// interval's launch is measured: where more are wanted then, the next interval begins at once. Launches that
/// are not timed are predicted by the fit of those of the second stage.
class LaunchSampler {
 public:
  /// `launches`: all launches of the run, in program order.
  LaunchSampler(const Options& options, std::span<const Launch> launches);

  struct Choice {
    bool timed = true;
    Cycle cycles = 0;  // predicted, where it is not
  };
  /// Each launch once; those of a group in the order of the program, where streams do not change that.
  [[nodiscard]] Choice choose(std::uint32_t launch);
  /// What was predicted of a launch itself, because some of its CTAs were left out.
  struct Own {
    Measures variance{}, bias{};  // bias: allowed for, in the measure's unit
    double freedom = 0;
  };
  /// To be called for each launch that was chosen, when it is complete.
  void add(std::uint32_t launch, const Measures& measures, const Own& own);

  /// The prediction, from all measurements, for a launch that was not timed.
  [[nodiscard]] Measures predict(std::uint32_t launch) const;
  [[nodiscard]] std::uint32_t group(std::uint32_t launch) const { return group_of_[launch]; }
  /// Warp instructions.
  [[nodiscard]] double size(std::uint32_t launch) const { return sizes_[launch]; }
  /// Share of the run's instructions that the launch has.
  [[nodiscard]] double share(std::uint32_t launch) const;

  struct GroupResult {
    std::uint32_t first = 0;  // launch
    std::uint64_t launches = 0, timed = 0;
    Fit::Model model = Fit::Model::kMean;
    double instructions = 0;  // of all its launches
    Estimate cycles;
  };
  /// Results for the launches that have been chosen or skipped so far.
  [[nodiscard]] std::vector<GroupResult> groups() const;
  [[nodiscard]] std::vector<Estimate> totals() const;

 private:
  struct Group {
    std::uint32_t first = 0;
    std::uint64_t launches = 0, seen = 0, chosen = 0, drawn = 0;  // drawn: of these, in the second stage
    std::uint64_t end = 0, pick = 0;                              // of the interval, counted in seen
    std::size_t planned_with = 0;                                 // measured launches when the interval began
    double size = 0;                                              // of all launches
    Fit fit, random;  // of all measured launches but the first; of those of the second stage
    Unseen unseen;
    EstimatedSums timed;  // what was measured, with what was predicted of it
  };
  /// The second stage's alone as soon as it has a scatter of its own: the pilot's launches are early ones.
  [[nodiscard]] static const Fit& fit_of(const Group& group) {
    return group.random.count() >= kMinRandom ? group.random : group.fit;
  }
  void begin_interval(std::uint32_t group);
  [[nodiscard]] std::uint64_t wanted(std::uint32_t group) const;
  [[nodiscard]] bool is_chosen(std::uint32_t group);
  void finish(const Group& group, std::size_t measure, EstimatedSum& sum) const;

  static constexpr std::size_t kMinRandom = 4;  // the linear model has two degrees of freedom then

  Options options_;
  std::vector<double> sizes_;
  std::vector<bool> random_;  // by launch: chosen in the second stage
  std::vector<std::uint32_t> group_of_;
  std::vector<Group> groups_;
  double size_ = 0;
};

}  // namespace lockstep::sampling
