// How a transform's length is split.
#pragma once

#include <vector>

namespace lockstep::libraries::fft {

/// The radices of one pass of `length`; empty where the length has other prime factors than they have, or
/// is 1.
[[nodiscard]] std::vector<unsigned> radices(unsigned length);

/// Lengths of at most `limit` for one to three passes, whose product is `length`, as alike as possible; none
/// where that is impossible.
[[nodiscard]] std::vector<unsigned> pass_lengths(unsigned length, unsigned limit);

/// The power of two for a convolution that does a transform of `length`.
[[nodiscard]] unsigned padded_length(unsigned length);

}  // namespace lockstep::libraries::fft
