#include "libraries/rand/poisson.hpp"

#include <algorithm>
#include <cmath>

namespace lockstep::libraries::rand {

PoissonTable poisson_table(double mean) {
  const double width = 12 * std::sqrt(mean) + 40;
  PoissonTable table;
  table.first = static_cast<Word>(std::max(0.0, std::floor(mean - width)));
  const auto last = static_cast<Word>(std::ceil(mean + width));
  double sum = 0;
  for (Word value = table.first; value <= last; ++value) {
    sum += std::exp(value * std::log(mean) - mean - std::lgamma(value + 1.0));
    table.cumulative.push_back(sum);
  }
  for (double& entry : table.cumulative) entry /= sum;
  table.cumulative.back() = 1;
  return table;
}

}  // namespace lockstep::libraries::rand
