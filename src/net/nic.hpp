// A NIC: connects one or several devices to the network.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/system_config.hpp"
#include "net/direct_queues.hpp"
#include "net/operations.hpp"
#include "net/target.hpp"
#include "sim/domain.hpp"
#include "sim/inbox.hpp"

namespace lockstep::net {

/// Domain and end of links, in the core clock of device 0. Service threads write a line of its own address
/// range to ring a doorbell, and no other agent accesses that (core::PeerPort); Operations and Target do the
/// rest. A store that comes from a device is one of a kernel to the status word of an entry in a queue of the
/// NIC's own.
class Nic final : public sim::Domain {
 public:
  /// How it receives news of its own queues.
  struct News {
    const AgentNetwork* network = nullptr;  // null: it has none
    std::uint32_t agent = 0;                // its destination there
    Cycle span = 64;                        // cycles that news may be ahead
  };
  Nic(link::EndpointWiring wiring, const config::SystemConfig& system, const News& news);

  /// Before the run: gives the pair a doorbell.
  void serve(QueuePair& pair);

  /// Before the run: keeps the operations of its own queues. Not owned.
  void record(OperationLog& log) { own_.record(log); }

  [[nodiscard]] Cycle advance(Cycle from, Cycle to) override;
  void settle(Cycle) override {}
  void dump(std::string& out) const override;

  [[nodiscard]] bool quiescent() const {
    return port_.idle() && operations_.idle() && target_.idle() && own_.idle() && news_.size() == 0;
  }
  /// Whether no operation of its devices is under way.
  [[nodiscard]] bool at_rest() const { return operations_.idle(); }
  [[nodiscard]] const ThreadCounters& own() const { return own_.counters(); }
  [[nodiscard]] const std::vector<icnt::EntryTime>& visible_entries() const { return own_.visible_entries(); }
  // Until `ps`; see DirectQueues and Operations.
  [[nodiscard]] DepthCounters own_depth(std::uint64_t ps) const { return own_.depth(ps); }
  [[nodiscard]] DepthCounters command_depth(std::uint64_t ps) const { return operations_.command_depth(ps); }
  [[nodiscard]] DepthCounters waiting_depth(std::uint64_t ps) const { return operations_.waiting_depth(ps); }
  [[nodiscard]] const std::vector<link::Wire>& wires() const { return port_.links().wires(); }
  [[nodiscard]] const Operations::Counters& operations() const { return operations_.counters(); }
  [[nodiscard]] const Target::Counters& target() const { return target_.counters(); }

  /// Precondition: no operation of its own is under way (at_rest()).
  template <class A>
  void persist(A& a) {
    a.members(*this, port_, a.given(clock_), target_, operations_, doors_, a.given(devices_), a.given(from_),
              news_, own_);
  }

 private:
  struct Door {
    QueuePair* pair = nullptr;
    std::uint64_t rung = 0;
    template <class A>
    void persist(A& a) {
      a.members(*this, a.given(pair), rung);
    }
  };
  void tick(Cycle now);
  void take(Cycle now, const link::Message& message);
  void take_doorbell(Cycle now, const link::Message& message);
  [[nodiscard]] Cycle next_event(Cycle now) const;

  NicPort port_;
  Clock clock_;
  Target target_;
  Operations operations_;
  std::vector<Door> doors_;
  std::uint32_t devices_;
  News from_;
  sim::Inbox<AgentNews> news_;
  DirectQueues own_;
};

}  // namespace lockstep::net
