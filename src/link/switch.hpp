// A switch between links.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "link/framing.hpp"
#include "link/incoming.hpp"
#include "link/wire.hpp"
#include "sim/domain.hpp"
#include "sim/inbox.hpp"
#include "util/index_set.hpp"
#include "util/request_table.hpp"

namespace lockstep::link {

/// Domain; its clock is the one that its wires have as sender's clock. Hands each message on to the wire that
/// leads to its device, where those that came over different wires take turns. It takes no time of its own:
/// what it does is part of its wires' latencies.
///
/// A multicast request (Message::targets) becomes one to each of its devices, all of which it has a wire to;
/// their replies become one: data sector by sector as all have come, an acknowledgement after the last. What
/// is under way is bounded by the asking devices' tables.
class Switch final : public sim::Domain {
 public:
  /// Each of the wires has as many queues as there are numbers of sources that messages come from. `span`:
  /// cycles that a message may be ahead. `wire_to`: by device, index of the wire. `framing`: of each wire,
  /// where it multicasts.
  Switch(Incoming incoming, Cycle span, std::vector<Wire> wires, std::vector<std::uint32_t> wire_to,
         std::vector<Framing> framing = {});

  [[nodiscard]] Cycle advance(Cycle from, Cycle to) override;
  void settle(Cycle) override {}
  void dump(std::string& out) const override;

  [[nodiscard]] const std::vector<Wire>& wires() const { return wires_; }
  [[nodiscard]] bool quiescent() const;

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(incoming_), inbox_, wires_, busy_, a.given(wire_to_), a.given(framing_), asked_);
  }

 private:
  /// A multicast request whose replies are awaited.
  struct Asked {
    Message request;
    SectorMask left = 0;                               // whose reply is not here yet
    std::array<SectorMask, kMaxDevices> awaited = {};  // by device
  };
  void tick(Cycle now);
  void take(std::uint32_t from, const Message& message);
  void push(std::uint32_t wire, std::uint32_t from, const Message& message) {
    wires_[wire].push(from, message);
    busy_.insert(wire);
  }
  void copy(std::uint32_t from, const Message& request);
  void combine(std::uint32_t from, const Message& reply);
  [[nodiscard]] Cycle next_event(Cycle now) const;

  Incoming incoming_;
  sim::Inbox<Message> inbox_;
  std::vector<Wire> wires_;
  IndexSet busy_;  // wires on which messages wait
  std::vector<std::uint32_t> wire_to_;
  std::vector<Framing> framing_;
  RequestTable<Asked> asked_;
};

}  // namespace lockstep::link
