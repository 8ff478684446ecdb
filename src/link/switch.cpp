#include "link/switch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace lockstep::link {

Switch::Switch(Incoming incoming, Cycle span, std::vector<Wire> wires, std::vector<std::uint32_t> wire_to,
               std::vector<Framing> framing)
    : incoming_(std::move(incoming)),
      inbox_(span),
      wires_(std::move(wires)),
      busy_(wires_.size()),
      wire_to_(std::move(wire_to)),
      framing_(std::move(framing)) {}

Cycle Switch::advance(Cycle from, Cycle to) {
  incoming_.gather(inbox_, from);
  Cycle now = std::max(from, next_event(from == 0 ? 0 : from - 1));
  while (now < to) {
    tick(now);
    now = next_event(now);
  }
  return now;
}

void Switch::tick(Cycle now) {
  inbox_.drain(now, [&](std::uint32_t from, const Message& message) { take(from, message); });
  busy_.each([&](std::size_t w) {
    wires_[w].tick(now);
    if (wires_[w].waiting() == 0) busy_.erase(w);
  });
}

/// `from`: the number of the source, as the wires' queues are numbered.
void Switch::take(std::uint32_t from, const Message& message) {
  if (message.targets == 0) return push(wire_to_[message.to], from, message);
  message.is_reply ? combine(from, message) : copy(from, message);
}

void Switch::copy(std::uint32_t from, const Message& request) {
  Asked asked{request, request.access.sectors, {}};
  for (std::uint16_t device = 0; device < kMaxDevices; ++device)
    if ((request.targets >> device & 1) != 0) asked.awaited[device] = request.access.sectors;
  Message message = request;
  message.access.tag = asked_.add(asked);
  for (std::uint16_t device = 0; device < kMaxDevices; ++device) {
    if (asked.awaited[device] == 0) continue;
    const std::uint32_t wire = wire_to_[device];
    message.to = device;
    message.set_bytes(framing_[wire].request(request.access.kind, request.access.sectors));
    push(wire, from, message);
  }
}

void Switch::combine(std::uint32_t from, const Message& reply) {
  Asked& asked = asked_.at(reply.access.tag);
  const bool partial = icnt::is_read(reply.access.kind);
  SectorMask& awaited = asked.awaited[reply.from];
  awaited = static_cast<SectorMask>(partial ? awaited & ~reply.access.sectors : 0);
  SectorMask missing = 0;
  for (const SectorMask device : asked.awaited) missing |= device;
  const auto done = static_cast<SectorMask>(asked.left & ~missing);
  if (done == 0) return;
  const std::uint32_t wire = wire_to_[asked.request.from];
  Message message = reply;
  message.access.line = asked.request.access.line;
  message.access.tag = asked.request.access.tag;
  message.access.sectors = done;
  message.to = asked.request.from;
  message.targets = 0;
  message.set_bytes(framing_[wire].reply(reply.access.kind, done));
  push(wire, from, message);
  asked.left = static_cast<SectorMask>(asked.left & ~done);
  if (asked.left == 0) asked_.free(reply.access.tag);
}

/// After `now`.
Cycle Switch::next_event(Cycle now) const {
  Cycle next = inbox_.next_arrival();
  busy_.each([&](std::size_t w) { next = std::min(next, wires_[w].next_event(now)); });
  return next;
}

bool Switch::quiescent() const {
  return inbox_.size() == 0 && asked_.used() == 0 &&
         std::all_of(wires_.begin(), wires_.end(), [](const Wire& wire) { return wire.waiting() == 0; });
}

void Switch::dump(std::string& out) const {
  std::size_t waiting = 0;
  for (const Wire& wire : wires_) waiting += wire.waiting();
  fmt::format_to(std::back_inserter(out),
                 "switch: {} messages wait, {} under way to it, {} multicasts without all replies\n", waiting,
                 inbox_.size(), asked_.used());
}

}  // namespace lockstep::link
