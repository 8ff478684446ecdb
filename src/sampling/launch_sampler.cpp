#include "sampling/launch_sampler.hpp"

#include <algorithm>
#include <cmath>

#include "sampling/allocation.hpp"
#include "sampling/quantile.hpp"
#include "sampling/random.hpp"

namespace lockstep::sampling {
namespace {

constexpr std::size_t kPilot = 2;  // measured launches beside a group's first: the least that have a scatter
constexpr double kPriorLaunchScatter = 0.05;  // of a launch, relative, before it is measured; assumed
/// Of the confidence interval that the allocation targets; assumed.
constexpr double kPlannedLaunchFreedom = 30;

/// Allowed for where so much is predicted of this measure: none where it is known.
double bias(std::size_t measure, double value) {
  return measure == instructions_measure() ? 0 : kBias * std::abs(value);
}

}  // namespace

LaunchSampler::LaunchSampler(const Options& options, std::span<const Launch> launches)
    : options_(options), group_of_(group_launches(launches)) {
  for (std::uint32_t i = 0; i < launches.size(); ++i) {
    random_.push_back(false);
    sizes_.push_back(static_cast<double>(std::max<std::uint64_t>(launches[i].size.instructions, 1)));
    if (group_of_[i] == groups_.size()) groups_.emplace_back().first = i;
    Group& group = groups_[group_of_[i]];
    ++group.launches;
    group.size += sizes_.back();
    size_ += sizes_.back();
  }
}

double LaunchSampler::share(std::uint32_t launch) const { return size(launch) / size_; }

LaunchSampler::Choice LaunchSampler::choose(std::uint32_t launch) {
  Group& group = groups_[group_of_[launch]];
  const std::uint64_t drawn = group.drawn;
  const bool timed = is_chosen(group_of_[launch]);
  random_[launch] = group.drawn > drawn;
  ++group.seen;
  if (timed) {
    ++group.chosen;
    return {};
  }
  group.unseen.add(size(launch));
  Unseen one;
  one.add(size(launch));
  const double cycles = fit_of(group).predict(fit_of(group).model(), 0, one).value;
  return {false, static_cast<Cycle>(std::llround(std::max(cycles, 1.0)))};
}

bool LaunchSampler::is_chosen(std::uint32_t number) {
  Group& group = groups_[number];
  if (group.seen == 0 || group.fit.count() < kPilot) return true;
  const bool measured =
      group.fit.count() > group.planned_with && (group.seen > group.pick || group.pick == kNever);
  if (group.seen >= group.end || (measured && wanted(number) > group.drawn)) begin_interval(number);
  if (measured) group.planned_with = group.fit.count();
  if (group.seen != group.pick) return false;
  ++group.drawn;
  return true;
}

void LaunchSampler::begin_interval(std::uint32_t number) {
  Group& group = groups_[number];
  const std::uint64_t left = group.launches - group.seen,
                      want = std::max<std::uint64_t>(wanted(number), kMinRandom);
  const std::uint64_t more = std::min(left, want > group.drawn ? want - group.drawn : 0);
  group.planned_with = group.fit.count();
  group.end = more == 0 ? group.launches : group.seen + left / more;
  group.pick = more == 0
                   ? kNever
                   : group.seen + choose_below(group.end - group.seen, options_.seed, number, group.seen);
}

/// By optimum allocation, with what is known now. A group that has not been measured is taken to have the
/// time for an instruction of all that were, and the prior's scatter.
std::uint64_t LaunchSampler::wanted(std::uint32_t number) const {
  double cycles = 0, measured_size = 0;
  for (const Group& g : groups_)
    if (fit_of(g).count() > 0) {
      cycles += fit_of(g).mean(0) / fit_of(g).mean_size() * g.size;
      measured_size += g.size;
    }
  std::vector<Stratum> strata;
  for (const Group& g : groups_) {
    const double n = static_cast<double>(g.launches);
    const double mean = fit_of(g).count() > 0 ? fit_of(g).mean(0) / fit_of(g).mean_size() * g.size / n
                                              : cycles / measured_size * g.size / n;
    double squares = kPriorFreedom * kPriorLaunchScatter * kPriorLaunchScatter * mean * mean,
           weight = kPriorFreedom;
    if (fit_of(g).count() > 0) {
      const Fit::Model model = fit_of(g).model();
      const auto freedom = static_cast<double>(fit_of(g).freedom(model));
      if (freedom > 0) squares += freedom * fit_of(g).scatter(model) * fit_of(g).scatter(model);
      weight += freedom;
    }
    strata.push_back({n, std::sqrt(squares / weight), g.size / n});
  }
  const double error = std::max(options_.error - kBias, options_.error / 2);
  const double half_width = error * cycles * size_ / measured_size;
  const double sigma = half_width / student_t(options_.confidence, kPlannedLaunchFreedom);
  return allocate(strata, sigma * sigma)[number];
}

void LaunchSampler::add(std::uint32_t launch, const Measures& measures, const Own& own) {
  Group& group = groups_[group_of_[launch]];
  for (std::size_t i = 0; i < kMeasures; ++i)
    group.timed[i].add({measures[i], own.variance[i]}, own.freedom, own.bias[i]);
  if (launch != group.first) group.fit.add(size(launch), measures);
  if (random_[launch]) group.random.add(size(launch), measures);
}

Measures LaunchSampler::predict(std::uint32_t launch) const {
  const Fit& fit = fit_of(groups_[group_of_[launch]]);
  const Fit::Model model = fit.model();
  Unseen one;
  one.add(size(launch));
  Measures all;
  for (std::size_t i = 0; i < kMeasures; ++i) all[i] = std::max(fit.predict(model, i, one).value, 0.0);
  return all;
}

void LaunchSampler::finish(const Group& group, std::size_t measure, EstimatedSum& sum) const {
  if (group.unseen.count == 0) return;
  const Fit& fit = fit_of(group);
  const Fit::Model model = fit.model();
  const Prediction rest = fit.predict(model, measure, group.unseen);
  sum.add(rest, static_cast<double>(fit.freedom(model)), bias(measure, rest.value));
}

std::vector<LaunchSampler::GroupResult> LaunchSampler::groups() const {
  std::vector<GroupResult> results;
  for (const Group& group : groups_) {
    if (group.seen == 0) continue;
    GroupResult result{group.first, group.seen, group.chosen, Fit::Model::kMean, group.size, {}};
    EstimatedSum cycles = group.timed[0];
    finish(group, 0, cycles);
    if (group.fit.count() > 0) result.model = fit_of(group).model();
    result.cycles = cycles.estimate(options_.confidence);
    results.push_back(result);
  }
  return results;
}

std::vector<Estimate> LaunchSampler::totals() const {
  std::vector<Estimate> totals;
  for (std::size_t i = 0; i < kMeasures; ++i) {
    EstimatedSum sum;
    for (const Group& group : groups_) {
      sum.add(group.timed[i]);
      finish(group, i, sum);
    }
    totals.push_back(sum.estimate(options_.confidence));
  }
  return totals;
}

}  // namespace lockstep::sampling
