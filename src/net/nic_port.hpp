// How the parts of a NIC send.
#pragma once

#include "link/endpoint.hpp"
#include "util/ring.hpp"

namespace lockstep::net {

/// The NIC's links, and a loopback for a device that writes to its own memory by the network.
class NicPort {
 public:
  explicit NicPort(link::EndpointWiring wiring) : links_(std::move(wiring)) {}
  void send(std::uint16_t to, link::Message message) {
    if (to != links_.node()) return links_.send(to, message);
    message.from = message.to = to;
    own_.push(message);
  }
  [[nodiscard]] link::Endpoint& links() { return links_; }
  [[nodiscard]] const link::Endpoint& links() const { return links_; }
  [[nodiscard]] Ring<link::Message>& own() { return own_; }
  [[nodiscard]] const Ring<link::Message>& own() const { return own_; }
  [[nodiscard]] bool idle() const { return links_.idle() && own_.empty(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, links_, own_);
  }

 private:
  link::Endpoint links_;
  Ring<link::Message> own_;
};

}  // namespace lockstep::net
