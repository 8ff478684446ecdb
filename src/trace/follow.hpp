// How far the commands of a program that is still running may be followed.
#pragma once

#include <cstdint>

namespace lockstep::trace {

/// While more commands will come.
enum class Until : std::uint8_t {
  kTaken,     // until all that are known are taken: the last is a wait, or the host asks for the time
  kComplete,  // until all that are known are complete: what follows cannot start before
};

}  // namespace lockstep::trace
