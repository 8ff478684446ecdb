// What the tests of this folder share: messages, and one wire.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "link/wire.hpp"

namespace lockstep::link {

inline Message message(std::uint32_t bytes, std::uint32_t tag = 0, bool answer = false) {
  Message m;
  m.set_bytes(bytes);
  m.is_reply = answer;
  m.access.tag = tag;
  return m;
}

struct Arrived {
  Cycle at;
  Message message;
};

/// One wire, ticked every cycle or only when it says so, and what comes out of it.
class WireBench {
 public:
  explicit WireBench(const WireSpec& spec, unsigned queues = 2)
      : network_("link", {0}, {1}, spec.latency), wire(network_, 0, 0, queues, spec) {}
  void run(Cycle end, bool skip) {
    while (now_ < end) {
      wire.tick(now_);
      const std::vector<sim::DomainId> sender{0};
      std::vector<Time> next(2);
      network_.flip(sender, now_ + 1, next);
      network_.collect(0, [&](std::uint32_t, Cycle at, const Message& m) { arrived.push_back({at, m}); });
      now_ = skip ? std::min(wire.next_event(now_), end) : now_ + 1;
    }
  }

 private:
  Network network_;
  Cycle now_ = 0;

 public:
  Wire wire;
  std::vector<Arrived> arrived;
};

}  // namespace lockstep::link
