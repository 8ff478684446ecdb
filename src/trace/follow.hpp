// How far the commands of a program that is still running may be followed.
#pragma once

#include <cstdint>

namespace lockstep::trace {

/// How far to follow the commands while more will come.
enum class Until : std::uint8_t {
  kTaken,     // until all known commands are taken: the last is a wait, or the host asks for the time
  kComplete,  // until all known commands are complete: what follows cannot start before
};

}  // namespace lockstep::trace
