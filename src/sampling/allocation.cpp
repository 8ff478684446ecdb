#include "sampling/allocation.hpp"

#include <algorithm>
#include <cmath>

namespace lockstep::sampling {

std::vector<std::uint64_t> allocate(std::span<const Stratum> strata, double variance) {
  std::vector<bool> whole(strata.size());
  std::vector<std::uint64_t> counts(strata.size());
  for (bool changed = true; changed;) {
    changed = false;
    double costs = 0, squares = variance;
    for (std::size_t h = 0; h < strata.size(); ++h) {
      const Stratum& s = strata[h];
      if (whole[h]) continue;
      costs += s.units * s.scatter * std::sqrt(s.cost);
      squares += s.units * s.scatter * s.scatter;
    }
    for (std::size_t h = 0; h < strata.size(); ++h) {
      const Stratum& s = strata[h];
      if (whole[h]) continue;
      const double wanted = squares > 0 ? s.units * s.scatter / std::sqrt(s.cost) * costs / squares : 0;
      counts[h] = static_cast<std::uint64_t>(std::ceil(std::min(wanted, s.units)));
      whole[h] = wanted >= s.units && s.scatter > 0;
      changed = changed || whole[h];
    }
  }
  return counts;
}

}  // namespace lockstep::sampling
