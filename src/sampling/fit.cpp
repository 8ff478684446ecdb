#include "sampling/fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace lockstep::sampling {
namespace {

constexpr std::size_t kLinearFrom = 4;  // units; assumed: two degrees of freedom are the least of use
constexpr double kEqualSizes = 1e-3;    // relative range of sizes that counts as none

}  // namespace

std::size_t instructions_measure() {
  static_assert(offsetof(stats::KernelCounters, sm) == 0);
  return 1 + offsetof(stats::SmCounters, warp_instructions) / sizeof(std::uint64_t);
}

Measures measures_of(Cycle cycles, const stats::KernelCounters& counters) {
  Measures measures;
  measures[0] = static_cast<double>(cycles);
  const auto* words = reinterpret_cast<const std::uint64_t*>(&counters);
  for (std::size_t i = 1; i < kMeasures; ++i) measures[i] = static_cast<double>(words[i - 1]);
  return measures;
}

void Fit::add(double size, const Measures& measures) {
  size = std::max(size, 1.0);
  least_ = count_ == 0 ? size : std::min(least_, size);
  most_ = std::max(most_, size);
  const double n = static_cast<double>(++count_);
  const double dx = size - mean_x_;
  mean_x_ += dx / n;
  sxx_ += dx * (size - mean_x_);
  for (std::size_t i = 0; i < kMeasures; ++i) {
    const double y = measures[i], dy = y - mean_y_[i];
    mean_y_[i] += dy / n;
    sxy_[i] += dx * (y - mean_y_[i]);
    syy_[i] += dy * (y - mean_y_[i]);
    ratio_[i] += y * y / size;
  }
}

Fit::Model Fit::model() const {
  if (most_ - least_ <= kEqualSizes * most_) return Model::kMean;
  return count_ >= kLinearFrom ? Model::kLinear : Model::kRatio;
}

std::size_t Fit::freedom(Model model) const {
  const std::size_t parameters = model == Model::kLinear ? 2 : 1;
  return count_ > parameters ? count_ - parameters : 0;
}

/// Estimated variance of a residual; with kRatio that of a unit of size 1.
double Fit::residual(Model model, std::size_t i) const {
  const auto left = static_cast<double>(freedom(model));
  if (left == 0) return 0;
  const double n = static_cast<double>(count_);
  double squares = syy_[i];
  if (model == Model::kLinear) squares -= sxy_[i] * sxy_[i] / sxx_;
  if (model == Model::kRatio) squares = ratio_[i] - n * mean_y_[i] * mean_y_[i] / mean_x_;
  // What is left of large squares that cancel is rounding, not scatter.
  const double rounding = 1e-12 * (syy_[i] + n * mean_y_[i] * mean_y_[i]);
  return squares > (model == Model::kRatio ? rounding / mean_x_ : rounding) ? squares / left : 0;
}

Prediction Fit::predict(Model model, std::size_t i, const Unseen& unseen) const {
  const double n = static_cast<double>(count_), m = unseen.count, x = unseen.size;
  const double variance = residual(model, i);
  if (model == Model::kRatio) return {x * mean_y_[i] / mean_x_, variance * (x + x * x / (n * mean_x_))};
  Prediction sum{m * mean_y_[i], variance * (m + m * m / n)};
  if (model == Model::kLinear) {
    const double off = x - m * mean_x_;
    sum.value += sxy_[i] / sxx_ * off;
    sum.variance += variance * off * off / sxx_;
  }
  return sum;
}

double Fit::scatter(Model model) const {
  return std::sqrt(residual(model, 0) * (model == Model::kRatio ? mean_x_ : 1));
}

}  // namespace lockstep::sampling
