// Direction numbers of Sobol's sequence.
#pragma once

#include <vector>

#include "libraries/rand/generators.hpp"

namespace lockstep::libraries::rand {

constexpr Word kSobolDimensions = 40;

/// 32 numbers for each dimension.
[[nodiscard]] const std::vector<Word>& sobol_directions();

}  // namespace lockstep::libraries::rand
