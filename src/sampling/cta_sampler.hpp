// Which CTAs of a long kernel are timed, and what follows for the others.
#pragma once

#include <cstdint>
#include <vector>

#include "sampling/fit.hpp"

namespace lockstep::sampling {

/// Allowance for bias that is added to the half-width of an interval, as a share of a kernel with omitted
/// CTAs: for state that warming up does not restore or that it disturbs. Source: measured,
/// docs/studies/sampling.md, "Limits".
inline constexpr double kCtaBias = 0.01;

/// What is known of a kernel before it runs.
struct LongKernel {
  std::uint64_t ctas = 0;
  std::uint64_t wave = 0;    // as many CTAs as the GPU holds at a time
  double l2_sectors = 0;     // sectors of the GPU's L2
  std::uint32_t launch = 0;  // its random choices depend on it
};

/// CTAs are dispatched in order. The beginning is timed: two waves, which fill the GPU, and further ones
/// until the L2 has missed one and a half times as many sectors as it can hold, but no more than a twelfth of
/// the kernel. The rest, except for the last wave, is divided into parts of equal length, at least six; their
/// number follows from the scatter of the parts so far and is determined anew after each part. In a part all
/// CTAs are omitted except for three consecutive waves, at a position given by the seed: one that warms up,
/// and two that are measured together. The last wave is timed. The SMs are full throughout: instead of an
/// omitted CTA, the next CTA that is timed is dispatched.
///
/// A part's measures are differences between two cuts. Omitted CTAs between two parts are assumed to be like
/// the mean of both, so that a steady drift cancels; those before the first part and after the last are
/// assumed to be like that part. Their cycles are estimated by the ratio to warp instructions, whose number
/// is known. The variance is that of independent parts about that ratio, from successive differences: drift
/// of the rate between two neighbours counts as scatter, drift over the whole kernel does not (Wolter,
/// "Introduction to Variance Estimation", 2nd edition, 2007, section 8.2, estimator v2; Cochran, "Sampling
/// Techniques", 3rd edition, 1977, sections 5A.14 and 8.11).
class CtaSampler {
 public:
  /// Kernels of fewer waves are timed completely; of 64 waves about two in five are timed.
  static constexpr std::uint64_t kMinWaves = 64;

  /// `error`: target half-width, as a share of the kernel's cycles.
  CtaSampler(const LongKernel& kernel, double error, double confidence, std::uint64_t seed);

  /// The number of dispatched CTAs at which there must be a cut and a call of at_mark(), or kNever.
  [[nodiscard]] std::uint64_t mark() const { return mark_; }
  /// At that cut: the kernel's cycles and counters, and the CTAs dispatched, so far. Returns how many CTAs
  /// are to be omitted now; mark() has changed.
  [[nodiscard]] std::uint64_t at_mark(const Measures& so_far, std::uint64_t dispatched);
  [[nodiscard]] std::uint64_t wave() const { return kernel_.wave; }
  /// The prediction for all omitted CTAs, which have `instructions` warp instructions; if negative, that
  /// number is estimated from the parts' CTAs. Precondition: some were omitted.
  [[nodiscard]] Prediction predict(std::size_t measure, double instructions) const;
  /// Degrees of freedom of the variance.
  [[nodiscard]] double freedom() const;

 private:
  struct Part {
    double left_out = 0;  // CTAs between the part before and this one
    Measures of_cta{};    // the measured values per CTA
  };
  struct Ratio {
    double sum = 0, instructions = 0;  // of all omitted CTAs, by the parts' CTAs
    double squares = 0;                // of the parts' weights
    double scatter = 0;                // variance of a part
  };
  [[nodiscard]] Ratio ratio(std::size_t measure) const;
  [[nodiscard]] double weight(std::size_t part) const;
  [[nodiscard]] bool begun(const Measures& so_far, std::uint64_t dispatched) const;
  [[nodiscard]] std::uint64_t parts_left(std::uint64_t ctas_left) const;
  [[nodiscard]] std::uint64_t next_part(std::uint64_t dispatched);
  [[nodiscard]] Measures of_cta(const Measures& so_far, std::uint64_t dispatched) const;

  LongKernel kernel_;
  double error_, confidence_;
  std::uint64_t seed_;
  enum class State : std::uint8_t { kBeginning, kWarming, kMeasuring, kDone } state_ = State::kBeginning;
  std::uint64_t mark_ = 0;
  std::uint64_t begin_ = 0;     // first CTA of the parts
  std::uint64_t part_end_ = 0;  // of the current one
  double gap_ = 0;              // CTAs omitted since the last measured part
  Measures before_{};           // when measuring began
  std::uint64_t first_ = 0;     // CTAs dispatched then
  Measures beginning_{};        // per CTA, in the beginning
  std::vector<Part> parts_;
};

}  // namespace lockstep::sampling
