// Which CTAs of a long kernel are timed, and what they say of the others.
#pragma once

#include <cstdint>

#include "sampling/fit.hpp"

namespace lockstep::sampling {

/// Works in waves: as many CTAs as the GPU holds at a time. CTAs are dispatched in order. The first two waves
/// fill the GPU, the next three are measured; what is left is cut into so many parts of one length as the
/// scatter of all measured waves asks for, at least five, anew after each part. In a part CTAs are left out
/// but for two waves, at a place that the seed says: one that warms up, with the caches warmed functionally
/// by those left out, and one that is measured. The last wave is always timed. The SMs are full throughout: a
/// CTA that was left out has its successor dispatched in its place. A wave's measures are differences between
/// two cuts, its size what was issued between them. CTAs that were left out are predicted by the fit of the
/// parts' waves (Fit::Model::kRatio).
class CtaSampler {
 public:
  /// Fewer waves are timed wholly: with five parts sixteen are timed.
  static constexpr std::uint64_t kLeastWaves = 32;

  /// `error`: half-width that is aimed at, as a share of the kernel's cycles. `which` makes the random
  /// choices those of this launch.
  CtaSampler(std::uint64_t ctas, std::uint64_t wave, double error, double confidence, std::uint64_t seed,
             std::uint64_t which);

  /// When so many CTAs have been dispatched, a cut is to come and at_mark() to be called; kNever: no more.
  [[nodiscard]] std::uint64_t mark() const { return mark_; }
  /// At that cut: the kernel's cycles and counters so far, and CTAs dispatched by now. Returns how many are
  /// to be left out now; mark() has changed.
  [[nodiscard]] std::uint64_t at_mark(const Measures& so_far, std::uint64_t dispatched);
  /// What was left out has so many warp instructions.
  void leave_out(std::uint64_t instructions);

  [[nodiscard]] bool any_left_out() const { return left_out_.size > 0; }
  [[nodiscard]] Prediction predict(std::size_t measure) const {
    return fit().predict(Fit::Model::kRatio, measure, left_out_);
  }
  [[nodiscard]] std::size_t freedom() const { return fit().freedom(Fit::Model::kRatio); }

 private:
  /// The first waves find the L2 without changed lines: they say how much is to be timed, and nothing of the
  /// others.
  [[nodiscard]] const Fit& fit() const { return parts_.count() > 1 ? parts_ : all_; }
  [[nodiscard]] std::uint64_t leave_out_from(std::uint64_t dispatched);
  [[nodiscard]] std::uint64_t parts_left() const;
  void measure(const Measures& so_far);

  std::uint64_t ctas_, wave_, seed_, which_;
  double error_, confidence_;
  enum class State : std::uint8_t {
    kFilling,
    kFirstWaves,
    kWarming,
    kMeasuring,
    kDone
  } state_ = State::kFilling;
  std::uint64_t mark_ = 0;
  Measures before_{};
  Fit all_, parts_;  // measured waves; those of the parts
  Unseen left_out_;
};

}  // namespace lockstep::sampling
