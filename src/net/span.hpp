// Ranges of bytes as accesses to lines.
#pragma once

#include <algorithm>
#include <cstdint>

#include "icnt/messages.hpp"
#include "util/types.hpp"

namespace lockstep::net {

/// The part of [begin, begin + bytes) that lies in the line of `begin`.
[[nodiscard]] constexpr std::uint32_t bytes_in_line(Address begin, std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, kLineBytes - begin % kLineBytes));
}

/// The sectors that [begin, begin + bytes) of one line touches; precondition: bytes > 0.
[[nodiscard]] constexpr SectorMask sectors_of(Address begin, std::uint32_t bytes) {
  const unsigned first = sector_in_line(begin), last = sector_in_line(begin + bytes - 1);
  return static_cast<SectorMask>((2u << last) - (1u << first));
}

/// A write of [begin, begin + bytes) of one line.
[[nodiscard]] inline icnt::Request write_of(icnt::AccessKind kind, Address begin, std::uint32_t bytes) {
  icnt::Request request;
  request.line = line_of(begin);
  request.kind = kind;
  request.sectors = sectors_of(begin, bytes);
  const auto first = static_cast<unsigned>(begin % kLineBytes), end = first + bytes;
  for (unsigned s = 0; s < kSectorsPerLine; ++s) {
    const unsigned from = std::clamp(first, s * kSectorBytes, (s + 1) * kSectorBytes) - s * kSectorBytes;
    const unsigned to = std::clamp(end, s * kSectorBytes, (s + 1) * kSectorBytes) - s * kSectorBytes;
    if (from < to) request.bytes[s] = (0xffffffffu >> (kSectorBytes - (to - from))) << from;
  }
  return request;
}

/// A read of the sectors of [begin, begin + bytes) of one line.
[[nodiscard]] inline icnt::Request read_of(icnt::AccessKind kind, Address begin, std::uint32_t bytes) {
  icnt::Request request;
  request.line = line_of(begin);
  request.kind = kind;
  request.sectors = sectors_of(begin, bytes);
  return request;
}

}  // namespace lockstep::net
