// Where the streams of the stateful generators begin.
#pragma once

#include <vector>

#include "libraries/rand/generators.hpp"

namespace lockstep::libraries::rand {

/// The states of all streams after `offset` words, of which stream k has those at k, k + kStreams, ... Seed 0
/// begins with the state of the generator's publication.
[[nodiscard]] std::vector<Xorwow> xorwow_streams(Long seed, Long offset);
[[nodiscard]] std::vector<Mrg32k3a> mrg32k3a_streams(Long seed, Long offset);
/// The block before the first of MT19937: as published for a seed of 32 bits, or for an array of two such.
[[nodiscard]] std::vector<Word> twister_block(Long seed);

}  // namespace lockstep::libraries::rand
