// What operations do with shared memory, where the order of the CTA's warps may matter. Internal to src/exec.
#pragma once

#include <cstdint>

namespace lockstep::exec {

enum class Sharing : std::uint8_t {
  kNone,
  kReads,
  kWrites,
  kUpdates,  // atomics, but for:
  kCompares  // cas, by which warps wait for each other
};

struct SharedAccess {
  Sharing sharing = Sharing::kNone;
  bool generic = false;  // so only where its address is one of shared memory
};

}  // namespace lockstep::exec
