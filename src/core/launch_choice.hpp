// Which launches and CTAs a run by samples times.
#pragma once

#include <cstdint>

#include "util/types.hpp"

namespace lockstep::core {

struct LaunchChoice {
  bool timed = true;
  Cycle cycles = 0;             // where it is not: from its first CTA's turn to its end
  bool prepare = false;         // a cut comes before its first CTA
  std::uint64_t mark = kNever;  // a cut comes when this many of its CTAs have been dispatched
};

/// Asked by the dispatcher, in the order of the launches, inside of windows. Its choice may depend on
/// what was there at the last cut, and on nothing else.
class LaunchChooser {
 public:
  virtual ~LaunchChooser() = default;
  /// `command`: the host's, which gets kernel slot `slot`.
  [[nodiscard]] virtual LaunchChoice choose(std::uint32_t command, std::uint8_t slot) = 0;
  /// What the CTAs of the slot's kernel that were left out would have taken; all others have drained.
  [[nodiscard]] virtual Cycle left_out_cycles(std::uint8_t slot) = 0;
};

}  // namespace lockstep::core
