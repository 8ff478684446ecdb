// How far simulated values are from measured ones.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace lockstep::correlate {

struct Values {
  double hardware = 0, simulated = 0;
};

/// An error is (simulated - hardware) / hardware: +0.1 is ten percent too much. Values of hardware that are 0
/// have none and are left out of all but `count` and `zeros`.
struct Errors {
  std::size_t count = 0, zeros = 0;
  double mean = 0, median = 0;  // with their signs; the median of an even number is the middle of two
  double mean_absolute = 0, median_absolute = 0;
  double p90_absolute = 0;                // the smallest that at least 90 % of the errors do not exceed
  double maximum = 0;                     // the one that is farthest from 0, with its sign
  std::optional<double> geometric_mean;   // of simulated / hardware, where both are above 0
  std::optional<double> correlation;      // Pearson's; with two different values or more on both sides
  std::optional<double> log_correlation;  // of the logarithms, where both are above 0
};

[[nodiscard]] Errors errors_of(std::span<const Values> values);

}  // namespace lockstep::correlate
