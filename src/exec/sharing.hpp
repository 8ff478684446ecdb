// What a warp does with shared memory, where the order of the CTA's warps may matter. Internal to src/exec.
#pragma once

#include <cstdint>

#include "exec/warp_state.hpp"

namespace lockstep::exec {

enum class Sharing : std::uint8_t {
  kNone,
  kReads,
  kWrites,
  kUpdates,  // atomics, but for:
  kCompares  // cas, by which warps wait for each other
};

/// Operations that may do anything with it; the others do nothing.
[[nodiscard]] constexpr bool may_share(Handler handler) {
  constexpr auto bit = [](Handler h) { return std::uint64_t{1} << static_cast<unsigned>(h); };
  constexpr std::uint64_t kMay = bit(Handler::kLoad) | bit(Handler::kStore) | bit(Handler::kAtomic) |
                                 bit(Handler::kMatrixMove) | bit(Handler::kCopyAsync);
  return (kMay >> static_cast<unsigned>(handler) & 1) != 0;
}

/// What an operation does for which may_share(). Copies by whole blocks, products of warpgroups, st.async and
/// red.async count for nothing: who needs what they do waits for it at an mbarrier.
[[nodiscard]] Sharing sharing_of(const WarpState& warp, const Operation& op, LaneMask active);

}  // namespace lockstep::exec
