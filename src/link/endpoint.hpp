// An end of links that is not a device: a NIC, a host.
#pragma once

#include <cstdint>
#include <vector>

#include "link/framing.hpp"
#include "link/incoming.hpp"
#include "link/wire.hpp"
#include "sim/inbox.hpp"

namespace lockstep::link {

/// How it is connected.
struct EndpointWiring {
  Incoming incoming;
  std::uint16_t node = 0;              // its number
  std::vector<Wire> wires;             // that it sends on, two queues each
  std::vector<Framing> framing;        // of each wire
  std::vector<std::uint32_t> wire_to;  // by endpoint: index of the wire
  Cycle span = 64;                     // cycles that a message may be ahead
};

/// Part of a domain, whose clock is that of the wires as their sender's. Requests and replies have a queue
/// each on every wire: a reply never waits for a request.
class Endpoint {
 public:
  explicit Endpoint(EndpointWiring wiring) : wiring_(std::move(wiring)), inbox_(wiring_.span) {}

  void gather(Cycle from) { wiring_.incoming.gather(inbox_, from); }
  /// f(message) for everything that has arrived.
  template <class F>
  void drain(Cycle now, F&& f) {
    inbox_.drain(now, [&](std::uint32_t, const Message& message) { f(message); });
  }
  /// Fills in from, to and bytes. Precondition: links lead there.
  void send(std::uint16_t to, Message message);
  void tick(Cycle now) {
    for (Wire& wire : wiring_.wires) wire.tick(now);
  }
  /// After `now`.
  [[nodiscard]] Cycle next_event(Cycle now) const;
  [[nodiscard]] bool idle() const;
  [[nodiscard]] std::uint16_t node() const { return wiring_.node; }
  [[nodiscard]] const std::vector<Wire>& wires() const { return wiring_.wires; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(wiring_), inbox_);
    a(wiring_.wires);
  }

 private:
  enum Queue : unsigned { kRequests, kReplies };
  EndpointWiring wiring_;
  sim::Inbox<Message> inbox_;
};

}  // namespace lockstep::link
