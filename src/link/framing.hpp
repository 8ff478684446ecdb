// What a message costs on a wire beyond its data.
#pragma once

#include <cstdint>

#include "icnt/messages.hpp"
#include "util/bits.hpp"

namespace lockstep::link {

/// Bytes.
struct Framing {
  std::uint32_t packet_bytes = 256;  // of data under one header, where data follow each other: copies
  std::uint32_t header_bytes = 16;   // of a packet: a request, an answer with data
  std::uint32_t store_bytes = 0;     // more than that for a store or an atomic
  std::uint32_t ack_bytes = 1;       // of an acknowledgement: it rides with others

  [[nodiscard]] std::uint32_t request(icnt::AccessKind kind, SectorMask sectors) const {
    const std::uint32_t data = bit_count(sectors) * kSectorBytes;
    if (kind == icnt::AccessKind::kCopy) return data + share_of_header();
    return icnt::carries_data(kind) ? data + header_bytes + store_bytes : header_bytes;
  }
  [[nodiscard]] std::uint32_t answer(icnt::AccessKind kind, SectorMask sectors) const {
    return icnt::answer_carries_data(kind) ? bit_count(sectors) * kSectorBytes + header_bytes : ack_bytes;
  }

 private:
  [[nodiscard]] std::uint32_t share_of_header() const {
    return (header_bytes * kLineBytes + packet_bytes - 1) / packet_bytes;
  }
};

}  // namespace lockstep::link
