#include "sampling/cta_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sampling/quantile.hpp"
#include "sampling/random.hpp"

namespace lockstep::sampling {
namespace {

constexpr std::uint64_t kFillingWaves = 2, kFirstWaves = 3, kLeastParts = 2;
constexpr std::uint64_t kTimedOfPart = 2, kLastWaves = 1;

}  // namespace

std::size_t instructions_measure() {
  static_assert(offsetof(stats::KernelCounters, sm) == 0);
  return 1 + offsetof(stats::SmCounters, warp_instructions) / sizeof(std::uint64_t);
}

CtaSampler::CtaSampler(std::uint64_t ctas, std::uint64_t wave, double error, double confidence, std::uint64_t seed,
                       std::uint64_t which)
    : ctas_(ctas),
      wave_(wave),
      seed_(seed),
      which_(which),
      error_(error),
      confidence_(confidence),
      mark_(ctas >= kLeastWaves * wave ? kFillingWaves * wave : kNever) {}

std::uint64_t CtaSampler::at_mark(const Measures& so_far, std::uint64_t dispatched) {
  const State state = state_;
  if (state == State::kFirstWaves || state == State::kMeasuring) measure(so_far);
  before_ = so_far;
  mark_ = dispatched + wave_;
  switch (state) {
    case State::kFilling:
      state_ = State::kFirstWaves;
      return 0;
    case State::kFirstWaves:
      if (fit_.count() < kFirstWaves) return 0;
      plan_parts(dispatched);
      return leave_out_from(dispatched);
    case State::kWarming:
      state_ = State::kMeasuring;
      return 0;
    case State::kMeasuring:
      return leave_out_from(dispatched);
    case State::kDone:
      break;
  }
  mark_ = kNever;
  return 0;
}

void CtaSampler::measure(const Measures& so_far) {
  Measures wave;
  for (std::size_t i = 0; i < kMeasures; ++i) wave[i] = so_far[i] - before_[i];
  fit_.add(wave[instructions_measure()], wave);
}

/// As many measured waves as the scatter of the first ones asks for, those included.
void CtaSampler::plan_parts(std::uint64_t dispatched) {
  const double relative = fit_.scatter(Fit::Model::kRatio) / fit_.mean(0);
  const double t = student_t(confidence_, static_cast<double>(kFirstWaves + kLeastParts - 1));
  const double wanted = std::ceil(std::pow(t * relative / error_, 2));
  const std::uint64_t last = kLastWaves * wave_;
  const std::uint64_t left = ctas_ > dispatched + last ? ctas_ - dispatched - last : 0;
  const auto more = static_cast<std::uint64_t>(std::min(wanted, static_cast<double>(left / wave_)));
  parts_ = std::max(kLeastParts, more > kFirstWaves ? more - kFirstWaves : 0);
  begin_ = dispatched;
  length_ = left / parts_;
}

/// Up to the place in the next part where CTAs are timed; after the last part, up to the last wave.
std::uint64_t CtaSampler::leave_out_from(std::uint64_t dispatched) {
  const std::uint64_t timed = kTimedOfPart * wave_;
  std::uint64_t to = ctas_ - kLastWaves * wave_;
  if (length_ <= timed) {  // nothing to be left out
    state_ = State::kDone;
    mark_ = kNever;
    return 0;
  }
  if (part_ < parts_) {
    to = begin_ + part_ * length_ + choose_below(length_ - timed + 1, seed_, which_, part_);
    ++part_;
    state_ = State::kWarming;
  } else {
    state_ = State::kDone;
  }
  const std::uint64_t count = to > dispatched ? to - dispatched : 0;
  mark_ = state_ == State::kDone ? kNever : dispatched + count + wave_;
  return count;
}

void CtaSampler::leave_out(std::uint64_t instructions) { left_out_.add(static_cast<double>(instructions)); }

}  // namespace lockstep::sampling
