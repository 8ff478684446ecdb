// Basic quantities that every part of the simulator shares.
#pragma once

#include <cstdint>
#include <limits>

namespace lockstep {

/// A point in time or a duration in cycles of the core clock, unless the name says otherwise
/// (`..._l2_cycles`, `..._ns`). The core clock is the engine's time base.
using Cycle = std::uint64_t;

/// "No such time": a domain that only a message can wake reports this as its next event.
inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

/// A byte address in the device's virtual address space.
using Address = std::uint64_t;

/// One bit per 32-byte sector of a 128-byte line; bit 0 is the lowest address.
using SectorMask = std::uint8_t;

inline constexpr std::uint64_t kPsOfNs = 1000;

inline constexpr unsigned kWarpSize = 32;
inline constexpr unsigned kSectorBytes = 32;
inline constexpr unsigned kLineBytes = 128;
inline constexpr unsigned kSectorsPerLine = kLineBytes / kSectorBytes;

/// Bit per lane of a warp; bit 0 is lane 0.
using LaneMask = std::uint32_t;

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

[[nodiscard]] constexpr Address line_of(Address a) { return a & ~Address{kLineBytes - 1}; }
[[nodiscard]] constexpr unsigned sector_in_line(Address a) {
  return static_cast<unsigned>(a / kSectorBytes % kSectorsPerLine);
}

}  // namespace lockstep
