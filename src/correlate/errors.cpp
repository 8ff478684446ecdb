#include "correlate/errors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace lockstep::correlate {
namespace {

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Nearest rank.
double percentile_90(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t rank = (values.size() * 9 + 9) / 10;  // rounded up, from 1
  return values[rank - 1];
}

/// Compared as they are: the deviations from a rounded mean are not 0.
bool all_equal(const std::vector<double>& values) {
  return std::ranges::adjacent_find(values, std::ranges::not_equal_to{}) == values.end();
}

/// Deviations from the mean, of which the largest is 1: their squares neither overflow nor vanish.
std::vector<double> deviations(std::vector<double> values) {
  const double largest =
      std::abs(*std::ranges::max_element(values, {}, [](double v) { return std::abs(v); }));
  for (double& v : values) v /= largest;
  const double mean = mean_of(values);
  double most = 0;
  for (double& v : values) most = std::max(most, std::abs(v -= mean));
  for (double& v : values) v /= most;
  return values;
}

std::optional<double> pearson(const std::vector<double>& x, const std::vector<double>& y) {
  if (all_equal(x) || all_equal(y)) return std::nullopt;
  const std::vector<double> dx = deviations(x), dy = deviations(y);
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += dx[i] * dx[i];
    yy += dy[i] * dy[i];
    xy += dx[i] * dy[i];
  }
  if (!(xx > 0) || !(yy > 0)) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

}  // namespace

Errors errors_of(std::span<const Values> values) {
  Errors result;
  result.count = values.size();
  std::vector<double> errors, absolute, hardware, simulated, log_hardware, log_simulated, log_ratios;
  for (const Values& v : values) {
    if (v.hardware == 0) {
      ++result.zeros;
      continue;
    }
    errors.push_back((v.simulated - v.hardware) / v.hardware);
    absolute.push_back(std::abs(errors.back()));
    hardware.push_back(v.hardware);
    simulated.push_back(v.simulated);
    if (!(v.hardware > 0 && v.simulated > 0)) continue;
    log_hardware.push_back(std::log(v.hardware));
    log_simulated.push_back(std::log(v.simulated));
    log_ratios.push_back(std::log(v.simulated / v.hardware));
  }
  if (errors.empty()) return result;
  result.mean = mean_of(errors);
  result.median = median_of(errors);
  result.mean_absolute = mean_of(absolute);
  result.median_absolute = median_of(absolute);
  result.p90_absolute = percentile_90(absolute);
  result.maximum = *std::ranges::max_element(errors, {}, [](double e) { return std::abs(e); });
  if (!log_ratios.empty()) result.geometric_mean = std::exp(mean_of(log_ratios));
  result.correlation = pearson(hardware, simulated);
  result.log_correlation = pearson(log_hardware, log_simulated);
  return result;
}

}  // namespace lockstep::correlate
