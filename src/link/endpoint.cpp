#include "link/endpoint.hpp"

#include <algorithm>

namespace lockstep::link {

void Endpoint::send(std::uint16_t to, Message message) {
  const std::uint32_t wire = wiring_.wire_to[to];
  const icnt::Request& access = message.access;
  const Framing& framing = wiring_.framing[wire];
  message.from = wiring_.node;
  message.to = to;
  message.set_bytes(message.is_reply ? framing.reply(access.kind, access.sectors)
                                     : framing.request(access.kind, access.sectors));
  wiring_.wires[wire].push(message.is_reply ? kReplies : kRequests, message);
}

Cycle Endpoint::next_event(Cycle now) const {
  Cycle next = inbox_.next_arrival();
  for (const Wire& wire : wiring_.wires) next = std::min(next, wire.next_event(now));
  return std::max(next, now + 1);
}

bool Endpoint::idle() const {
  return inbox_.size() == 0 &&
         std::ranges::all_of(wiring_.wires, [](const Wire& wire) { return wire.waiting() == 0; });
}

}  // namespace lockstep::link
