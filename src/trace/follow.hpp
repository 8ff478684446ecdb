// How far the commands of a program that is still running may be followed.
#pragma once

#include <cstdint>

namespace lockstep::trace {

/// How far to follow the commands while the program may issue more.
enum class Until : std::uint8_t {
  kTaken,     // until all known commands are taken: the last is a wait, or the host reads the time
  kComplete,  // until all known commands are complete: later ones cannot start before that
};

}  // namespace lockstep::trace
