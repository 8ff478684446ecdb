// Sums of parts whose errors are independent, as estimates with intervals.
#pragma once

#include <array>

#include "sampling/fit.hpp"

namespace lockstep::sampling {

struct Estimate {
  double value = 0, half_width = 0;
};

/// Allowance for bias in an interval, as a share of the predicted part: for state that is not warmed (TLBs,
/// instruction caches, writes on their way). Source: measured, docs/studies/sampling.md; the largest
/// difference in programs whose launches hardly scatter, rounded up.
inline constexpr double kBias = 0.005;

/// What an assumed scatter, from before anything is measured, weighs against what was measured; assumed.
inline constexpr double kPriorFreedom = 2;

/// Sum of parts, each with its variance and that variance's degrees of freedom. The interval's are those of
/// Satterthwaite (Biometrics Bulletin 2, 1946): (sum V)^2 / sum(V^2 / f); the parts' allowances for bias are
/// added to its half-width.
class EstimatedSum {
 public:
  void add(const EstimatedSum& other);
  /// `bias`: allowed for, in the value's unit.
  void add(const Prediction& part, double freedom, double bias);
  [[nodiscard]] Estimate estimate(double confidence) const;

 private:
  double value_ = 0, variance_ = 0, squares_ = 0, bias_ = 0;
};

/// One for each measure.
using EstimatedSums = std::array<EstimatedSum, kMeasures>;

}  // namespace lockstep::sampling
