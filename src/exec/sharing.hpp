// What operations do with shared memory, where the order of the CTA's warps may matter. Internal to src/exec.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/executable.hpp"

namespace lockstep::exec {

enum class Sharing : std::uint8_t {
  kNone,
  kReads,
  kWrites,
  kUpdates,   // atomics, but for:
  kCompares,  // cas, by which warps wait for each other
  kGeneric    // one of these, if its address is one of shared memory
};

/// By operation. Copies by whole blocks, products of warpgroups, st.async and red.async count for nothing:
/// who needs what they do waits for it at an mbarrier.
[[nodiscard]] std::vector<Sharing> find_sharing(const Executable& kernel);

/// What an operation does that accesses shared memory.
[[nodiscard]] Sharing sharing_of(const Executable& kernel, const Operation& op);

}  // namespace lockstep::exec
