#include "link/switch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace lockstep::link {

Switch::Switch(const Network& network, std::uint32_t node, Cycle span, std::vector<Wire> wires,
               std::vector<std::uint32_t> wire_to)
    : network_(&network), node_(node), inbox_(span), wires_(std::move(wires)), wire_to_(std::move(wire_to)) {}

Cycle Switch::advance(Cycle from, Cycle to) {
  inbox_.gather(*network_, node_, from);
  Cycle now = std::max(from, next_event(from == 0 ? 0 : from - 1));
  while (now < to) {
    tick(now);
    now = next_event(now);
  }
  return now;
}

void Switch::tick(Cycle now) {
  inbox_.drain(now, [&](std::uint32_t wire, const Message& message) {
    wires_[wire_to_[message.to]].push(wire, message);
  });
  for (Wire& wire : wires_) wire.tick(now);
}

/// After `now`.
Cycle Switch::next_event(Cycle now) const {
  Cycle next = inbox_.next_arrival();
  for (const Wire& wire : wires_) next = std::min(next, wire.next_event(now));
  return next;
}

bool Switch::quiescent() const {
  return inbox_.size() == 0 &&
         std::all_of(wires_.begin(), wires_.end(), [](const Wire& wire) { return wire.waiting() == 0; });
}

void Switch::dump(std::string& out) const {
  std::size_t waiting = 0;
  for (const Wire& wire : wires_) waiting += wire.waiting();
  fmt::format_to(std::back_inserter(out), "switch: {} messages wait, {} under way to it\n", waiting,
                 inbox_.size());
}

}  // namespace lockstep::link
