// How many units of each stratum are to be timed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::sampling {

struct Stratum {
  double units = 0;    // of the population
  double scatter = 0;  // standard deviation of a unit
  double cost = 1;     // of timing one, in any unit; above 0
};

/// Optimum allocation for a given variance of the estimated total at least cost (Neyman 1934; Cochran,
/// "Sampling Techniques", 3rd edition, sections 5.5 and 5.9, with the finite population correction): n_h =
/// N_h S_h / sqrt(c_h) * sum(N_k S_k sqrt(c_k)) / (variance + sum(N_k S_k^2)), rounded up. Strata of which
/// more than N_h would be wanted are timed wholly, the others allocated without them (section 5.8).
[[nodiscard]] std::vector<std::uint64_t> allocate(std::span<const Stratum> strata, double variance);

}  // namespace lockstep::sampling
