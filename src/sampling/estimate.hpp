// Sums of parts whose errors are independent, as estimates with intervals.
#pragma once

#include <array>

#include "sampling/fit.hpp"

namespace lockstep::sampling {

struct Estimate {
  double value = 0, half_width = 0;
};

/// Sum of parts, each with its variance and that variance's degrees of freedom. The interval's are those of
/// Satterthwaite (Biometrics Bulletin 2, 1946): (sum V)^2 / sum(V^2 / f).
class EstimatedSum {
 public:
  void add(const EstimatedSum& other);
  void add(const Prediction& part, double freedom);
  [[nodiscard]] Estimate estimate(double confidence) const;

 private:
  double value_ = 0, variance_ = 0, squares_ = 0;
};

/// One for each measure.
using EstimatedSums = std::array<EstimatedSum, kMeasures>;

}  // namespace lockstep::sampling
