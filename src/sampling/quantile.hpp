// Quantiles of Student's distribution.
#pragma once

namespace lockstep::sampling {

/// t such that a variable of Student's distribution with `freedom` degrees of freedom (at least 1, need not
/// be whole) lies within [-t, t] with probability `confidence`.
[[nodiscard]] double student_t(double confidence, double freedom);

}  // namespace lockstep::sampling
