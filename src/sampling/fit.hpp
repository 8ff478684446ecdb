// Predicts units that were not timed from those that were, by a linear model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stats/counters.hpp"
#include "util/types.hpp"

namespace lockstep::sampling {

/// The measured values of a unit: its cycles, then all its counters in their order.
inline constexpr std::size_t kMeasures = 1 + sizeof(stats::KernelCounters) / sizeof(std::uint64_t);
using Measures = std::array<double, kMeasures>;
/// Index of the warp instructions among the measures; they are known for units that were not timed, too.
[[nodiscard]] std::size_t instructions_measure();
[[nodiscard]] Measures measures_of(Cycle cycles, const stats::KernelCounters& counters);

/// A set of units of which only the sizes are known.
struct Unseen {
  double count = 0, size = 0;  // of all together
  void add(double unit_size) {
    count += 1;
    size += unit_size;
  }
};

/// A sum over unseen units and the variance of its error.
struct Prediction {
  double value = 0, variance = 0;
};

/// Units of size x (instructions) with measures y. The model depends on the units that
/// were seen, and is the same for all measures:
/// - kLinear, y = a + b x with residuals of one variance: at least four units whose sizes differ;
/// - kMean, y = a, likewise: sizes that are equal, within a thousandth;
/// - kRatio, y = b x with residuals whose variance is proportional to x: otherwise, or on request.
/// The sum over unseen units is predicted by least squares. Its error's variance counts the scatter of the
/// unseen units, which is what makes it vanish when all are seen (the finite population correction), and the
/// error of a and b. Source: Valliant, Dorfman and Royall, "Finite Population Sampling and Inference: A
/// Prediction Approach" (2000), chapters 2 and 5; Royall, Biometrika 57 (1970).
class Fit {
 public:
  enum class Model : std::uint8_t { kRatio, kMean, kLinear };

  void add(double size, const Measures& measures);
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Precondition: count() > 0.
  [[nodiscard]] Model model() const;
  /// Degrees of freedom of the residuals; 0 if their variance is not known.
  [[nodiscard]] std::size_t freedom(Model model) const;
  [[nodiscard]] Prediction predict(Model model, std::size_t measure, const Unseen& unseen) const;
  /// Standard deviation of the residuals of the cycles for a unit of mean size. Precondition: freedom() > 0.
  [[nodiscard]] double scatter(Model model) const;
  [[nodiscard]] double mean(std::size_t measure) const { return mean_y_[measure]; }
  [[nodiscard]] double mean_size() const { return mean_x_; }

 private:
  [[nodiscard]] double residual(Model model, std::size_t measure) const;

  std::size_t count_ = 0;
  double mean_x_ = 0, sxx_ = 0, least_ = 0, most_ = 0;  // sums of squares are about the means
  Measures mean_y_{}, sxy_{}, syy_{}, ratio_{};         // ratio_: sums of y * y / x
};

}  // namespace lockstep::sampling
