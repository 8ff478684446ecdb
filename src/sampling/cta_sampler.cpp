#include "sampling/cta_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "sampling/estimate.hpp"
#include "sampling/quantile.hpp"
#include "sampling/random.hpp"

namespace lockstep::sampling {
namespace {

// In waves. Source: docs/studies/sampling.md, "CTAs of long kernels".
constexpr std::uint64_t kFilling = 2, kWarming = 1, kMeasured = 2, kLast = 1;
constexpr std::uint64_t kBlock = kWarming + kMeasured;
constexpr double kL2Fills = 1.5;           // sizes of the L2 until its lines are the kernel's own
constexpr std::uint64_t kBeginnings = 12;  // the beginning is at most one in this many CTAs
constexpr std::size_t kMinParts = 6;
constexpr double kPriorPartScatter = 0.03;  // of a part, relative, before it is measured
constexpr std::size_t kFirstScatter = 3;    // parts: the least that have one
constexpr std::uint64_t kSparse = 2;  // shorter parts, in waves that are timed, would gain little; assumed
constexpr double kPlannedPartFreedom = 10;  // of the interval that is aimed at; assumed

constexpr std::size_t kL2Misses =
    1 + (offsetof(stats::KernelCounters, mem) + offsetof(stats::PartitionCounters, l2) +
         offsetof(stats::CacheCounters, misses)) /
            sizeof(std::uint64_t);

}  // namespace

CtaSampler::CtaSampler(const LongKernel& kernel, double error, double confidence, std::uint64_t seed)
    : kernel_(kernel),
      error_(error),
      confidence_(confidence),
      seed_(seed),
      mark_(kernel.ctas >= kMinWaves * kernel.wave ? kFilling * kernel.wave : kNever) {}

bool CtaSampler::begun(const Measures& so_far, std::uint64_t dispatched) const {
  return so_far[kL2Misses] >= kL2Fills * kernel_.l2_sectors ||
         dispatched + kernel_.wave > kernel_.ctas / kBeginnings;
}

std::uint64_t CtaSampler::at_mark(const Measures& so_far, std::uint64_t dispatched) {
  const bool late = dispatched > mark_ + kernel_.wave / 2;
  mark_ = dispatched + kernel_.wave;
  switch (state_) {
    case State::kBeginning:
      if (late) break;  // CTAs are too short for cuts between waves: all are timed
      if (!begun(so_far, dispatched)) return 0;
      begin_ = part_end_ = dispatched;
      beginning_ = of_cta(so_far, dispatched);
      return next_part(dispatched);
    case State::kWarming:
      state_ = State::kMeasuring;
      before_ = so_far;
      first_ = dispatched;
      mark_ = dispatched + kMeasured * kernel_.wave;
      return 0;
    case State::kMeasuring:
      parts_.push_back({std::exchange(gap_, 0), of_cta(so_far, dispatched)});
      return next_part(dispatched);
    case State::kDone:
      break;
  }
  state_ = State::kDone;
  mark_ = kNever;
  return 0;
}

Measures CtaSampler::of_cta(const Measures& so_far, std::uint64_t dispatched) const {
  Measures measures;
  for (std::size_t i = 0; i < kMeasures; ++i)
    measures[i] = (so_far[i] - before_[i]) / static_cast<double>(dispatched - first_);
  return measures;
}

/// As many as the scatter of those so far asks for, in the share of the kernel that is left.
std::uint64_t CtaSampler::parts_left(std::uint64_t ctas_left) const {
  double squares = kPriorFreedom * kPriorPartScatter * kPriorPartScatter, weight = kPriorFreedom;
  if (parts_.size() >= kFirstScatter) {
    double mean = 0;
    for (const Part& part : parts_) mean += part.of_cta[0] / static_cast<double>(parts_.size());
    squares += freedom() * ratio(0).scatter / (mean * mean);
    weight += freedom();
  }
  const double aim = std::max(error_ - kCtaBias, error_ / 2) / student_t(confidence_, kPlannedPartFreedom);
  const double all = std::max<double>(squares / weight / (aim * aim), kMinParts);
  const double share = static_cast<double>(ctas_left) / static_cast<double>(kernel_.ctas - begin_);
  const auto wanted =
      static_cast<std::uint64_t>(std::ceil(std::min(all, static_cast<double>(kernel_.ctas)) * share));
  return std::max<std::uint64_t>(wanted, kMinParts - std::min(kMinParts, parts_.size()));
}

/// Up to the place in the next part where CTAs are timed; after the last part, up to the last wave.
std::uint64_t CtaSampler::next_part(std::uint64_t dispatched) {
  const std::uint64_t block = kBlock * kernel_.wave, end = kernel_.ctas - kLast * kernel_.wave;
  const std::uint64_t from = std::max(part_end_, dispatched), left = end > from ? end - from : 0;
  std::uint64_t until = end;  // CTAs are left out
  if (left < block) {
    state_ = State::kDone;
    mark_ = kNever;
  } else {
    std::uint64_t length = left / std::max<std::uint64_t>(parts_left(left), 1);
    if (length < kSparse * block) length = block;  // nothing is left out
    until = from + choose_below(length - block + 1, seed_, kernel_.launch, dispatched);
    part_end_ = from + length;
    state_ = State::kWarming;
    mark_ = until + kWarming * kernel_.wave;
  }
  const std::uint64_t count = until > dispatched ? until - dispatched : 0;
  gap_ += static_cast<double>(count);
  return count;
}

/// CTAs that the part stands for: half of those between it and a neighbour, all before the first and after
/// the last.
double CtaSampler::weight(std::size_t i) const {
  const double before = parts_[i].left_out * (i == 0 ? 1 : 0.5);
  return before + (i + 1 == parts_.size() ? gap_ : 0.5 * parts_[i + 1].left_out);
}

CtaSampler::Ratio CtaSampler::ratio(std::size_t measure) const {
  const std::size_t x = instructions_measure();
  Ratio r;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    r.sum += weight(i) * parts_[i].of_cta[measure];
    r.instructions += weight(i) * parts_[i].of_cta[x];
    r.squares += weight(i) * weight(i);
  }
  double y = 0, size = 0;
  for (const Part& part : parts_) {
    y += part.of_cta[measure];
    size += part.of_cta[x];
  }
  const double b = y / std::max(size, 1.0);
  const auto residual = [&](const Part& part) { return part.of_cta[measure] - b * part.of_cta[x]; };
  for (std::size_t i = 1; i < parts_.size(); ++i)
    r.scatter += std::pow(residual(parts_[i]) - residual(parts_[i - 1]), 2) / 2 /
                 static_cast<double>(parts_.size() - 1);
  return r;
}

Prediction CtaSampler::predict(std::size_t measure, double instructions) const {
  // The last CTA was dispatched before a cut came: of less than two parts nothing is known of the scatter.
  const auto unsure = [](double value) { return Prediction{value, value * value}; };
  if (parts_.empty()) return unsure(gap_ * beginning_[measure]);
  const Ratio r = ratio(measure);
  const double scale = instructions < 0 || r.instructions <= 0 ? 1 : instructions / r.instructions;
  if (parts_.size() == 1) return unsure(r.sum * scale);
  return {r.sum * scale, r.scatter * r.squares * scale * scale};
}

/// Degrees of freedom of successive (so overlapping) differences of n independent normal values.
double CtaSampler::freedom() const {
  const auto n = static_cast<double>(parts_.size());
  return 2 * (n - 1) * (n - 1) / (3 * n - 4);
}

}  // namespace lockstep::sampling
