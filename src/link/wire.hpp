// One direction of a link between two devices, or between a device and a switch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "link/credits.hpp"
#include "link/message.hpp"
#include "link/traffic_log.hpp"
#include "sim/clock.hpp"
#include "util/index_set.hpp"
#include "util/ring.hpp"
#include "util/types.hpp"

namespace lockstep::link {

/// Classes of messages, each with a receive buffer of its own.
enum class Traffic : std::uint8_t { kRequests, kReplies };
inline constexpr std::size_t kTraffics = 2;

[[nodiscard]] inline std::size_t traffic_of(const Message& message) {
  return static_cast<std::size_t>(message.is_reply ? Traffic::kReplies : Traffic::kRequests);
}

/// Times are core cycles of the wire's sender, which owns it.
struct WireSpec {
  std::uint64_t bytes_per_second = 1;
  Cycle latency = 1;                               // from a message's last byte on the wire to its arrival
  std::uint64_t sender_khz = 1, receiver_khz = 1;  // their clocks
  std::array<std::uint64_t, kTraffics> credit_bytes{};  // by class: receive buffer; 0: always enough
  TrafficLog* log = nullptr;                            // of what it sends; may be null
  /// PCI Express: a reply with data does not pass a write that was pushed before it, in whatever queue. Not
  /// for a switch, each of whose queues has all of a sender in order.
  bool ordered_replies = false;
};

/// Bytes of the messages follow each other without a gap while there are any: a byte takes
/// 1/bytes_per_second, exactly, whatever the clock. Messages wait in queues, of which a round-robin arbiter
/// takes one at a time.
///
/// A message also needs credits for its bytes. The receiver takes all that arrives at once, and its credits
/// are back after the latency of the way back, without bytes of their own (assumed: they ride with what
/// goes there). So a buffer bounds what is under way, and throughput to its bytes a round trip. A message
/// that lacks credits holds up others of its class, so that small ones do not overtake it for ever.
class Wire {
 public:
  struct Counters {
    std::uint64_t messages = 0, bytes = 0, data_bytes = 0;  // data: without headers and acknowledgements
    // By class, cycles in which a message could have begun but for its credits, and nothing else was sent.
    std::array<Cycle, kTraffics> credit_stalls{};
  };

  /// `source`, `destination`: of the network.
  Wire(Network& network, std::uint32_t source, std::uint32_t destination, unsigned queues,
       const WireSpec& spec);

  void push(unsigned queue, const Message& message) {
    if (ordered_) note_order(message);
    queues_[queue].push(message);
    filled_.insert(queue);
    ++waiting_;
    pushed_ = true;
  }
  /// Sends what may begin in cycle `now`.
  void tick(Cycle now) {
    if (bounded_) return tick_with_credits(now);
    while (waiting_ > 0 && ready_ <= now) send(now, pick());
  }
  /// The earliest cycle after `now` in which tick() sends something or a stall may end; kNever when nothing
  /// waits.
  [[nodiscard]] Cycle next_event(Cycle now) const {
    if (waiting_ == 0) return kNever;
    return stalled() ? next_credits(now) : std::max(now + 1, ready_);
  }
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] const Credits& credits(Traffic of) const { return credits_[static_cast<std::size_t>(of)]; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(network_), a.given(log_), a.given(source_), a.given(destination_),
              a.given(cycle_to_byte_), a.given(byte_to_cycle_), a.given(to_receiver_), a.given(latency_),
              queues_, filled_, waiting_, last_, free_, ready_, a.given(bounded_), credits_, held_, stalled_,
              stalled_from_, pushed_, a.given(ordered_), writes_pushed_, writes_sent_, writes_before_,
              counters_);
  }

 private:
  static constexpr unsigned kNone = ~0u;
  [[nodiscard]] unsigned pick();
  void note_order(const Message& message);
  /// Whether the first message of the queue would pass a write that it may not.
  [[nodiscard]] bool passes_write(unsigned queue) const {
    return ordered_ && is_ordered_reply(queues_[queue].front()) && writes_before_.front() > writes_sent_;
  }
  [[nodiscard]] static bool is_ordered_reply(const Message& message) {
    return message.is_reply && icnt::reply_carries_data(message.access.kind);
  }
  [[nodiscard]] static bool is_posted_write(const Message& message) {
    return !message.is_reply &&
           (icnt::is_store(message.access.kind) || message.access.kind == icnt::AccessKind::kReduction);
  }
  [[nodiscard]] unsigned pick_with_credits();
  void tick_with_credits(Cycle now);
  /// With nothing new since.
  [[nodiscard]] bool stalled() const { return !pushed_ && (stalled_[0] || stalled_[1]); }
  [[nodiscard]] Cycle next_credits(Cycle now) const;
  void send(Cycle now, unsigned queue);
  void count_stalls(Cycle now);

  Network* network_;
  TrafficLog* log_;
  std::uint32_t source_, destination_;
  sim::ClockRatio cycle_to_byte_, byte_to_cycle_, to_receiver_;
  Cycle latency_;
  std::vector<Ring<Message>> queues_;
  IndexSet filled_;  // those with messages: a switch's wires have a queue for each wire of the system
  std::size_t waiting_ = 0;
  unsigned last_ = 0;       // queue that was served last
  std::uint64_t free_ = 0;  // the next byte's number, if bytes had been sent from cycle 0 on
  Cycle ready_ = 0;         // in which that byte begins: the next one in which tick() may send
  bool bounded_;            // some class has too few credits at times
  std::array<Credits, kTraffics> credits_;
  std::array<unsigned, kTraffics> held_{kNone, kNone};  // queue whose message is the next of its class
  std::array<bool, kTraffics> stalled_{};               // since stalled_from_
  Cycle stalled_from_ = 0;
  bool pushed_ = false;  // after the last tick
  bool ordered_;
  std::uint64_t writes_pushed_ = 0, writes_sent_ = 0;
  Ring<std::uint64_t> writes_before_;  // of each reply with data that waits: writes_pushed_ when it came
  Counters counters_;
};

}  // namespace lockstep::link
