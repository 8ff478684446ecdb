#include "sampling/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "sampling/quantile.hpp"

namespace lockstep::sampling {

void EstimatedSum::add(const Prediction& part, double freedom, double bias) {
  value_ += part.value;
  bias_ += bias;
  if (part.variance <= 0) return;
  variance_ += part.variance;
  squares_ += part.variance * part.variance / std::max(freedom, 1.0);
}

void EstimatedSum::add(const EstimatedSum& other) {
  value_ += other.value_;
  variance_ += other.variance_;
  squares_ += other.squares_;
  bias_ += other.bias_;
}

Estimate EstimatedSum::estimate(double confidence) const {
  if (variance_ <= 0) return {value_, bias_};
  return {value_, student_t(confidence, variance_ * variance_ / squares_) * std::sqrt(variance_) + bias_};
}

}  // namespace lockstep::sampling
