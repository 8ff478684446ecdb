// What the record of a barrier of the CTA says whose opcode says .EVENTS: an affine record whose base is the
// barrier's number and the threads that arrive, and whose stride is how many must have arrived before the
// warp goes on.
#pragma once

#include <cstdint>

namespace lockstep::trace {

/// StaticInst::barrier_id of instructions whose records have them.
inline constexpr std::uint8_t kCountedBarrier = 16;

/// Threads are counted from the CTA's start on, over all phases: a thread counts once for each of its
/// arrivals, and those that have ended as the rest of their warp.
struct BarrierEvents {
  std::uint8_t barrier = 0;  // below 16
  std::uint32_t arriving = 0;
  std::uint64_t awaited = 0;  // 0 for an arrival that does not wait
  bool operator==(const BarrierEvents&) const = default;
};

struct BarrierEventWords {
  std::uint64_t base = 0, stride = 0;
};

[[nodiscard]] constexpr BarrierEventWords pack(const BarrierEvents& events) {
  return {events.barrier | std::uint64_t{events.arriving} << 4, events.awaited};
}
[[nodiscard]] constexpr BarrierEvents unpack(const BarrierEventWords& words) {
  return {static_cast<std::uint8_t>(words.base % 16), static_cast<std::uint32_t>(words.base >> 4),
          words.stride};
}

}  // namespace lockstep::trace
