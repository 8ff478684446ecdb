#include "sampling/allocation.hpp"

#include <algorithm>
#include <cmath>

namespace lockstep::sampling {

std::vector<std::uint64_t> allocate(std::span<const Stratum> strata, double variance) {
  double costs = 0, squares = variance;
  for (const Stratum& s : strata) {
    costs += s.units * s.scatter * std::sqrt(s.cost);
    squares += s.units * s.scatter * s.scatter;
  }
  std::vector<std::uint64_t> counts;
  for (const Stratum& s : strata) {
    const double wanted = squares > 0 ? s.units * s.scatter / std::sqrt(s.cost) * costs / squares : 0;
    counts.push_back(static_cast<std::uint64_t>(std::ceil(std::min(wanted, s.units))));
  }
  return counts;
}

}  // namespace lockstep::sampling
