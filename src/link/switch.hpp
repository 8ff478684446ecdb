// A switch between links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "link/wire.hpp"
#include "sim/domain.hpp"
#include "sim/inbox.hpp"

namespace lockstep::link {

/// Domain; its clock is the one that its wires have as sender's clock. Hands each message on to the wire that
/// leads to its device, where those that came over different wires take turns. It takes no time of its own:
/// what it does is part of its wires' latencies.
class Switch final : public sim::Domain {
 public:
  /// `node`: its destination in the network. `sources`: of the network, the number of queues of each of the
  /// wires. `span`: cycles that a message may be ahead. `wire_to`: by device, index of the wire.
  Switch(const Network& network, std::uint32_t node, Cycle span, std::vector<Wire> wires,
         std::vector<std::uint32_t> wire_to);

  [[nodiscard]] Cycle advance(Cycle from, Cycle to) override;
  void settle(Cycle) override {}
  void dump(std::string& out) const override;

  [[nodiscard]] const std::vector<Wire>& wires() const { return wires_; }
  [[nodiscard]] bool quiescent() const;

 private:
  void tick(Cycle now);
  [[nodiscard]] Cycle next_event(Cycle now) const;

  const Network* network_;
  std::uint32_t node_;
  sim::Inbox<Message> inbox_;
  std::vector<Wire> wires_;
  std::vector<std::uint32_t> wire_to_;
};

}  // namespace lockstep::link
