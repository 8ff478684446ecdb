// The Poisson distribution as a table.
#pragma once

#include <vector>

#include "libraries/rand/generators.hpp"

namespace lockstep::libraries::rand {

struct PoissonTable {
  Word first = 0;                  // the value of the first entry
  std::vector<double> cumulative;  // the probabilities of at most first, first + 1, ...; the last is 1
};

/// `mean` up to kLargestTabulatedMean; what is left out at both ends has less than 2^-60 of the probability.
constexpr double kLargestTabulatedMean = 4000;
[[nodiscard]] PoissonTable poisson_table(double mean);

}  // namespace lockstep::libraries::rand
