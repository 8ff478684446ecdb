// Both ends of a channel: the source's injection port owns its bandwidth and its credits, the destination's
// ejection port owns its bandwidth and the round-robin arbiter. The traversal between them is a pure latency.
//
// All times given to and returned by a port are edges of the clock of the domain that owns it ("own edges");
// bandwidth is counted in icnt cycles.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <utility>
#include <vector>

#include "icnt/messages.hpp"
#include "sim/clock.hpp"
#include "sim/inbox.hpp"
#include "sim/network.hpp"
#include "util/types.hpp"

namespace lockstep::icnt {

/// Clocks and latency of a kind of channel, as its source sees it.
struct ChannelSpec {
  sim::ClockRatio own_to_icnt, icnt_to_own, icnt_to_receiver;
  Cycle latency = 0;  // icnt cycles from the last flit's injection to arrival at the ejection port
};

/// First own edge k whose icnt edge, own_to_icnt.ceil(k), is `free` or later.
[[nodiscard]] inline Cycle first_edge_at(const sim::ClockRatio& icnt_to_own, Cycle free) {
  return free == 0 ? 0 : icnt_to_own.floor(free - 1) + 1;
}

/// A queue of messages in front of a crossbar input. First in, first out: a message that lacks a credit holds
/// up what is behind it.
template <class T>
class InjectionPort {
 public:
  struct Spec {
    ChannelSpec channel;
    std::uint32_t capacity = 8;  // messages waiting, including the one that lacks a credit
    std::uint32_t credits = 16;  // messages under way to one destination
    Cycle credit_span = 256;     // own edges that a credit may be under way
  };

  InjectionPort(sim::Network<T>& network, const sim::Network<Credit>& credits, std::uint32_t source,
                const Spec& spec)
      : network_(&network),
        credit_network_(&credits),
        source_(source),
        spec_(spec),
        queue_(std::bit_ceil(std::min(spec.capacity, kFirstItems))),
        credits_(network.destinations(), spec.credits),
        credit_inbox_(spec.credit_span) {}

  /// Start of a window: takes the credits that are under way home. Those that arrived while the owner had
  /// nothing to send are counted now.
  void gather(Cycle first_edge) {
    if (first_edge > 0) take_credits(first_edge - 1);
    credit_inbox_.gather(*credit_network_, source_, first_edge);
  }

  [[nodiscard]] bool full() const { return count_ == spec_.capacity; }
  [[nodiscard]] std::uint32_t room() const { return spec_.capacity - count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }

  /// Queues a message of `flits` flits; it may leave from tick(now) on. Pushing to a full port is a bug.
  void push(Cycle now, std::uint32_t destination, std::uint32_t flits, const T& message) {
    assert(!full());
    if (count_ == queue_.size()) grow();
    queue_[(head_ + count_) & (queue_.size() - 1)] = {now, destination, flits, message};
    ++count_;
  }

  /// Sends everything that may leave at own edge `now`: port free and credit there.
  void tick(Cycle now) {
    take_credits(now);
    while (count_ > 0) {
      const Item& item = queue_[head_];
      const Cycle edge = spec_.channel.own_to_icnt.ceil(now);
      if (free_ > edge || credits_[item.destination] == 0) return;
      if (edge > free_) stall_cycles_ += edge - could_leave(item.pushed);
      --credits_[item.destination];
      free_ = edge + item.flits;
      flits_ += item.flits;
      const Cycle arrival = free_ - 1 + spec_.channel.latency;
      network_->send(source_, item.destination, spec_.channel.icnt_to_receiver.ceil(arrival), item.message);
      // An empty queue begins anew, so that a long one touches no more memory than it needs.
      head_ = --count_ == 0 ? 0 : (head_ + 1) & static_cast<std::uint32_t>(queue_.size() - 1);
    }
  }

  /// Own edge > now at which tick() could do something without further pushes; kNever if none is known.
  [[nodiscard]] Cycle next_event(Cycle now) const {
    if (count_ == 0) return kNever;
    if (credits_[queue_[head_].destination] == 0) return credit_inbox_.next_arrival();
    const Cycle own = first_edge_at(spec_.channel.icnt_to_own, free_);
    return own > now ? own : now + 1;
  }

  /// Icnt cycles that messages stood first in the queue, port free, for want of a credit; flits sent. Since
  /// the last call: the owner books them to the kernel it is working for.
  [[nodiscard]] std::uint64_t take_stall_cycles() { return std::exchange(stall_cycles_, 0); }
  [[nodiscard]] std::uint64_t take_flits() { return std::exchange(flits_, 0); }

  /// Credits on the last leg of their way home: gathered, not yet due.
  [[nodiscard]] std::uint64_t credits_arriving() const { return credit_inbox_.size(); }

  /// Credits that are away; 0 when the machine is quiescent.
  [[nodiscard]] std::uint64_t credits_out() const {
    std::uint64_t out = 0;
    for (const std::uint32_t c : credits_) out += spec_.credits - c;
    return out;
  }
  /// Credits that are neither here nor on their way back. Unlike credits_out() this is 0 for a port that has
  /// slept since its last message and has not counted its credits yet.
  [[nodiscard]] std::uint64_t credits_missing() const { return credits_out() - credit_inbox_.size(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(network_), a.given(credit_network_), a.given(source_), a.given(spec_), queue_,
              head_, count_, credits_, credit_inbox_, free_, stall_cycles_, flits_);
  }

 private:
  static constexpr std::uint32_t kFirstItems = 16;  // memory to begin with; few queues ever grow long

  void grow() {
    std::rotate(queue_.begin(), queue_.begin() + head_, queue_.end());
    head_ = 0;
    queue_.resize(queue_.size() * 2);
  }

  void take_credits(Cycle now) {
    credit_inbox_.drain(now, [&](std::uint32_t destination, const Credit&) { ++credits_[destination]; });
  }

  /// Icnt edge at which the first message, pushed then, could have left but for its credit. On a slower clock
  /// than the crossbar's the port is often free some icnt cycles before the owner comes to it.
  [[nodiscard]] Cycle could_leave(Cycle pushed) const {
    return spec_.channel.own_to_icnt.ceil(std::max(pushed, first_edge_at(spec_.channel.icnt_to_own, free_)));
  }

  struct Item {
    Cycle pushed;
    std::uint32_t destination, flits;
    T message;
  };

  sim::Network<T>* network_;
  const sim::Network<Credit>* credit_network_;
  std::uint32_t source_;
  Spec spec_;
  std::vector<Item> queue_;
  std::uint32_t head_ = 0, count_ = 0;
  std::vector<std::uint32_t> credits_;
  sim::Inbox<Credit> credit_inbox_;
  Cycle free_ = 0;  // icnt edge at which the next message may start
  std::uint64_t stall_cycles_ = 0, flits_ = 0;
};

/// A crossbar output: messages wait by source; a round-robin arbiter takes one at a time for as many icnt
/// cycles as it has flits and gives its credit back.
template <class T>
class EjectionPort {
 public:
  struct Spec {
    sim::ClockRatio own_to_icnt, icnt_to_own;
    ChannelSpec credit_channel;  // credits travel back with the channel's latency
    Cycle span = 256;            // own edges that an arrival may lie ahead
  };

  EjectionPort(const sim::Network<T>& network, sim::Network<Credit>& credits, std::uint32_t destination,
               const Spec& spec)
      : network_(&network),
        credit_network_(&credits),
        destination_(destination),
        spec_(spec),
        inbox_(spec.span),
        waiting_((network.sources() + 63) / 64),
        lists_(network.sources(), {kEnd, kEnd}) {}

  void gather(Cycle first_edge) { inbox_.gather(*network_, destination_, first_edge); }

  /// Takes at most one message at own edge `now`: calls accept(message) if the port is free, one waits and
  /// `ready` holds; `flits(message)` says for how many icnt cycles the port is then busy. Returns whether it
  /// did.
  template <class Flits, class Accept>
  bool tick(Cycle now, bool ready, Flits&& flits, Accept&& accept) {
    inbox_.drain(now, [&](std::uint32_t source, const T& message) { enqueue(source, message); });
    if (count_ == 0 || !ready) return false;
    const Cycle edge = spec_.own_to_icnt.ceil(now);
    if (free_ > edge) return false;
    const std::uint32_t source = pick();
    const std::uint32_t node = lists_[source].head;
    free_ = edge + flits(nodes_[node].message);
    dequeue(source);
    const Cycle arrival = edge + spec_.credit_channel.latency;
    credit_network_->send(destination_, source, spec_.credit_channel.icnt_to_receiver.ceil(arrival),
                          Credit{});
    accept(nodes_[node].message);
    nodes_[node].next = free_node_;
    free_node_ = node;
    return true;
  }

  /// The port is busy for that many icnt cycles with what came to it beside the messages.
  void occupy(Cycle now, std::uint32_t flits) {
    free_ = std::max(free_, spec_.own_to_icnt.ceil(now)) + flits;
  }

  /// Own edge > now at which tick() could do something; when messages wait only for `ready`, now + 1 if it
  /// holds.
  [[nodiscard]] Cycle next_event(Cycle now, bool ready) const {
    Cycle next = inbox_.next_arrival();
    if (count_ > 0 && ready) {
      const Cycle own = first_edge_at(spec_.icnt_to_own, free_);
      next = std::min(next, own > now ? own : now + 1);
    }
    return next;
  }
  [[nodiscard]] std::size_t pending() const { return count_ + inbox_.size(); }
  void allow_late(bool allowed) { inbox_.allow_late(allowed); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(network_), a.given(credit_network_), a.given(destination_), a.given(spec_),
              inbox_, waiting_, lists_, nodes_, free_node_, count_, last_, free_);
  }

 private:
  static constexpr std::uint32_t kEnd = 0xffffffff;
  struct Node {
    std::uint32_t next;
    T message;
  };
  struct List {
    std::uint32_t head, tail;
  };

  void enqueue(std::uint32_t source, const T& message) {
    std::uint32_t node = free_node_;
    if (node == kEnd) {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      free_node_ = nodes_[node].next;
    }
    nodes_[node] = {kEnd, message};
    List& list = lists_[source];
    if (list.head == kEnd) {
      list.head = node;
      waiting_[source / 64] |= std::uint64_t{1} << source % 64;
    } else {
      nodes_[list.tail].next = node;
    }
    list.tail = node;
    ++count_;
  }

  void dequeue(std::uint32_t source) {
    std::uint32_t& head = lists_[source].head;
    head = nodes_[head].next;
    if (head == kEnd) waiting_[source / 64] &= ~(std::uint64_t{1} << source % 64);
    --count_;
  }

  /// Round robin: the next waiting source after the one served last.
  [[nodiscard]] std::uint32_t pick() {
    const std::size_t words = waiting_.size();
    const std::uint32_t start = last_ + 1 < 64 * words ? last_ + 1 : 0;
    std::size_t w = start / 64;
    std::uint64_t later = ~std::uint64_t{0} << start % 64;
    for (std::size_t i = 0; i <= words; ++i, w = w + 1 < words ? w + 1 : 0, later = ~std::uint64_t{0}) {
      if (const std::uint64_t bits = waiting_[w] & later) {
        last_ = static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
        return last_;
      }
    }
    return last_;
  }

  const sim::Network<T>* network_;
  sim::Network<Credit>* credit_network_;
  std::uint32_t destination_;
  Spec spec_;
  sim::Inbox<T> inbox_;
  std::vector<std::uint64_t> waiting_;
  std::vector<List> lists_;  // of what waits, by source
  std::vector<Node> nodes_;
  std::uint32_t free_node_ = kEnd;
  std::size_t count_ = 0;
  std::uint32_t last_ = 0xffffffff;
  Cycle free_ = 0;  // icnt edge at which the port is free again
};

}  // namespace lockstep::icnt
