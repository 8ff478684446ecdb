// The options of a sampled run: --sample error=2%,confidence=95%,seed=1.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep::sampling {

struct Options {
  double error = 0.02;        // half-width of the interval, as a share of the estimated cycles of all kernels
  double confidence = 0.95;   // how often an interval is to contain the true value
  std::uint64_t seed = 1;     // of the random choices
  std::uint32_t warm_up = 4;  // before a launch is timed, untimed ones with up to this many times its
                              // instructions update the L2; 0: none
};

/// `text`: NAME=VALUE, separated by commas; names are error, confidence, seed, warm-up. A share is a number
/// with or without %: 2% is 0.02. Throws UserError.
[[nodiscard]] Options parse_options(std::string_view text);

}  // namespace lockstep::sampling
