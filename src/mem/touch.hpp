// An access that changes which lines the L2 holds, and takes no time.
#pragma once

#include "util/l2_priority.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

/// One line, touched by a kernel that goes over the caches without being timed.
struct Touch {
  Address line = 0;
  SectorMask sectors = 0;
  bool store = false;  // changes them
  L2Placing placing{};
  std::uint32_t half = 0;  // L2 half of the requesting SM
};

}  // namespace lockstep::mem
