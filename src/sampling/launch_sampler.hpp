// Which launches of a program are timed, and the estimates for all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sampling/estimate.hpp"
#include "sampling/fit.hpp"
#include "sampling/grouping.hpp"
#include "sampling/options.hpp"

namespace lockstep::sampling {

/// Two stages in each group. Pilot: the group's first launch is timed, which represents only itself because
/// it finds caches cold, and then launches until two are measured. Second stage: optimum allocation
/// (allocation.hpp), with the measured scatter and a prior for groups of which little is known, determines
/// how many more are to be timed; the remaining launches are divided into that many intervals of equal
/// length, and in each one launch is timed, at a position given by the seed. The allocation is repeated at
/// the beginning of each interval, and when the interval's launch has been measured: if more launches are
/// wanted then, the next interval begins at once. Launches that are not timed are predicted by the fit of
/// those of the second stage.
class LaunchSampler {
 public:
  /// `launches`: all launches of the run, in program order.
  LaunchSampler(const Options& options, std::span<const Launch> launches);

  struct Choice {
    bool timed = true;
    Cycle cycles = 0;  // predicted, if it is not timed
  };
  /// Called once for each launch; for those of a group in program order, unless streams change it.
  [[nodiscard]] Choice choose(std::uint32_t launch);
  /// The error of a timed launch's own prediction, for omitted CTAs.
  struct Own {
    Measures variance{}, bias{};  // bias: the allowance for it, in the measure's unit
    double freedom = 0;
  };
  /// To be called for each launch that was chosen, when it is complete.
  void add(std::uint32_t launch, const Measures& measures, const Own& own);

  /// The prediction, from all measurements, for a launch that was not timed.
  [[nodiscard]] Measures predict(std::uint32_t launch) const;
  [[nodiscard]] std::uint32_t group(std::uint32_t launch) const { return group_of_[launch]; }
  /// Warp instructions.
  [[nodiscard]] double size(std::uint32_t launch) const { return sizes_[launch]; }
  /// The launch's share of the run's instructions.
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
    EstimatedSums timed;  // measured launches, including what was predicted of them
  };
  /// The fit of the second stage alone as soon as its scatter is known: the pilot has early launches only.
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
