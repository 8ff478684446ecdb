// The 64-bit mbarrier object in shared memory (PTX ISA 9.0, section 9.7.13.15). Its layout is opaque to
// programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lockstep::exec {

struct Mbarrier {
  static constexpr unsigned kCountBits = 20;  // PTX: counts below 2^20
  static constexpr std::uint64_t kCountMask = (1u << kCountBits) - 1;
  static constexpr unsigned kTxBits = 22;  // PTX: tx-count within +-(2^20 - 1)

  std::uint32_t expected = 0, pending = 0;
  std::int32_t tx = 0;
  bool phase = false;

  [[nodiscard]] static Mbarrier unpack(std::uint64_t bits) {
    Mbarrier b;
    b.pending = static_cast<std::uint32_t>(bits & kCountMask);
    b.expected = static_cast<std::uint32_t>(bits >> kCountBits & kCountMask);
    b.tx = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits >> 2 * kCountBits) << (32 - kTxBits)) >>
           (32 - kTxBits);
    b.phase = bits >> 63;
    return b;
  }
  [[nodiscard]] std::uint64_t pack() const {
    const std::uint64_t low = static_cast<std::uint32_t>(tx) & ((1u << kTxBits) - 1);
    return (pending & kCountMask) | (expected & kCountMask) << kCountBits | low << 2 * kCountBits |
           std::uint64_t{phase} << 63;
  }

  void init(std::uint32_t count) { *this = {count, count, 0, false}; }
  void arrive(std::uint32_t count, bool drop) {
    pending -= count;
    if (drop) expected -= count;
    settle();
  }
  void expect(std::uint32_t bytes) { tx += static_cast<std::int32_t>(bytes); }
  void complete(std::uint32_t bytes) {
    tx -= static_cast<std::int32_t>(bytes);
    settle();
  }

 private:
  void settle() {
    if ((pending & kCountMask) != 0 || tx != 0) return;
    phase = !phase;
    pending = expected;
  }
};

/// Applies `change` to the object at `where`; returns its bits from before.
template <class Change>
std::uint64_t update_mbarrier(std::byte* where, Change&& change) {
  std::uint64_t before;
  std::memcpy(&before, where, sizeof before);
  Mbarrier barrier = Mbarrier::unpack(before);
  change(barrier);
  const std::uint64_t after = barrier.pack();
  std::memcpy(where, &after, sizeof after);
  return before;
}

}  // namespace lockstep::exec
