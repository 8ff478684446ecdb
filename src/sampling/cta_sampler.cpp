#include "sampling/cta_sampler.hpp"

#include <algorithm>
#include <cmath>

#include "sampling/quantile.hpp"
#include "sampling/random.hpp"

namespace lockstep::sampling {
namespace {

// In waves. Assumed: the fewest with which waves have a scatter and each part has been warmed.
constexpr std::uint64_t kFillingWaves = 2;
constexpr std::size_t kFirstWaves = 3, kLeastParts = 5;
constexpr std::uint64_t kTimedOfPart = 2, kLastWaves = 1;

}  // namespace

CtaSampler::CtaSampler(std::uint64_t ctas, std::uint64_t wave, double error, double confidence,
                       std::uint64_t seed, std::uint64_t which)
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
      if (all_.count() < kFirstWaves) return 0;
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
  all_.add(wave[instructions_measure()], wave);
  if (state_ == State::kMeasuring) parts_.add(wave[instructions_measure()], wave);
}

/// As many measured waves as the scatter of those so far asks for, less those.
std::uint64_t CtaSampler::parts_left() const {
  const double relative = all_.scatter(Fit::Model::kRatio) / all_.mean(0);
  const double t =
      student_t(confidence_, static_cast<double>(std::max(kFirstWaves + kLeastParts, all_.count()) - 1));
  const double wanted = std::min(std::ceil(std::pow(t * relative / error_, 2)), static_cast<double>(ctas_));
  const std::uint64_t waves = std::max(static_cast<std::uint64_t>(wanted), kFirstWaves + kLeastParts);
  return waves - std::min<std::uint64_t>(waves, all_.count());
}

/// Up to the place in the next part where CTAs are timed; after the last part, up to the last wave.
std::uint64_t CtaSampler::leave_out_from(std::uint64_t dispatched) {
  const std::uint64_t timed = kTimedOfPart * wave_, last = kLastWaves * wave_, parts = parts_left();
  const std::uint64_t left = ctas_ > dispatched + last ? ctas_ - dispatched - last : 0;
  state_ = State::kDone;
  mark_ = kNever;
  if (parts == 0) return left;
  const std::uint64_t length = left / parts;
  if (length <= timed) return 0;  // so much is to be timed that nothing can be left out
  const std::uint64_t count = choose_below(length - timed + 1, seed_, which_, dispatched);
  state_ = State::kWarming;
  mark_ = dispatched + count + wave_;
  return count;
}

void CtaSampler::leave_out(std::uint64_t instructions) { left_out_.add(static_cast<double>(instructions)); }

}  // namespace lockstep::sampling
