// One direction of a link between two devices, or between a device and a switch.
#pragma once

#include <cstdint>
#include <vector>

#include "link/message.hpp"
#include "sim/clock.hpp"
#include "util/ring.hpp"
#include "util/types.hpp"

namespace lockstep::link {

/// Times are core cycles of the wire's sender, which owns it.
struct WireSpec {
  std::uint64_t bytes_per_second = 1;
  Cycle latency = 1;                               // from a message's last byte on the wire to its arrival
  std::uint64_t sender_khz = 1, receiver_khz = 1;  // their clocks
};

/// Bytes of the messages follow each other without a gap while there are any: a byte takes
/// 1/bytes_per_second, exactly, whatever the clock. Messages wait in queues, of which a round-robin arbiter
/// takes one at a time. The receiver takes all that arrives; what bounds the messages under way is the asking
/// device's table of accesses (core::PeerPort).
class Wire {
 public:
  struct Counters {
    std::uint64_t messages = 0, bytes = 0, data_bytes = 0;  // data: without headers and acknowledgements
  };

  /// `source`, `destination`: of the network.
  Wire(Network& network, std::uint32_t source, std::uint32_t destination, unsigned queues,
       const WireSpec& spec);

  void push(unsigned queue, const Message& message) {
    queues_[queue].push(message);
    ++waiting_;
  }
  /// Sends what may begin in cycle `now`.
  void tick(Cycle now);
  /// The earliest cycle after `now` in which tick() sends something; kNever when nothing waits.
  [[nodiscard]] Cycle next_event(Cycle now) const;
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(network_), a.given(source_), a.given(destination_), a.given(cycle_to_byte_),
              a.given(byte_to_cycle_), a.given(to_receiver_), a.given(latency_), queues_, waiting_, last_,
              free_, counters_);
  }

 private:
  [[nodiscard]] unsigned pick();

  Network* network_;
  std::uint32_t source_, destination_;
  sim::ClockRatio cycle_to_byte_, byte_to_cycle_, to_receiver_;
  Cycle latency_;
  std::vector<Ring<Message>> queues_;
  std::size_t waiting_ = 0;
  unsigned last_ = 0;       // queue that was served last
  std::uint64_t free_ = 0;  // the next byte's number, if bytes had been sent from cycle 0 on
  Counters counters_;
};

}  // namespace lockstep::link
