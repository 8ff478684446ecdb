#include "link/framing.hpp"

namespace lockstep::link {
namespace {

/// Data under headers: a copy's lines share those of whole packets, and so do what asks for them.
std::uint32_t packet_bytes(const FramedMessage& m, const FramingBytes& of) {
  const std::uint32_t shared = (of.header * kLineBytes + of.packet - 1) / of.packet;
  if (m.kind == icnt::AccessKind::kCopyRead) return m.is_reply ? m.data + shared : shared;
  const bool carries = m.is_reply ? icnt::reply_carries_data(m.kind) : icnt::carries_data(m.kind);
  if (m.is_reply) return carries ? m.data + of.header : of.ack;
  if (m.kind == icnt::AccessKind::kCopy) return m.data + shared;
  return carries ? m.data + of.header + of.store : of.header;
}

}  // namespace

constinit const FramingModel kPackets{
    "packets", "data under headers, which copies share; acknowledgements ride with others", packet_bytes};

}  // namespace lockstep::link
