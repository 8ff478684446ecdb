// The SM's port to the other SMs of its GPC.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "config/gpu_config.hpp"
#include "icnt/fabric.hpp"
#include "sim/inbox.hpp"
#include "util/ring.hpp"

namespace lockstep::core {

/// A message arrives cluster_hop() after it has left. Those with data leave one at a time, at
/// cluster.port_bytes per core cycle, and data beyond the first sector make them that much later; those
/// without take no bandwidth (assumed). Each lane keeps its order; lanes take turns. What arrives is received
/// at the same rate, in order; requests without data do not wait.
class ClusterPort {
 public:
  /// Who sends: the load/store unit and the barriers; the banks, in reply to others; the copies.
  enum Lane : unsigned { kRequests, kReplies, kCopies, kLanes };

  ClusterPort(const config::GpuConfig& config, sim::Network<icnt::ClusterMessage>& network, std::uint32_t sm)
      : network_(&network),
        sm_(sm),
        hop_(config.cluster_hop()),
        rest_((config.cluster.latency - config.l1.shared_latency) % 2),
        barrier_latency_(config.cluster.barrier_latency),
        bytes_(config.cluster.port_bytes),
        inbox_(sim::inbox_span(barrier_latency_ + cycles(kLargestMessage))) {}

  /// Start of a window.
  void gather(Cycle from) { inbox_.gather(*network_, sm_, from); }

  /// Queues a message to an SM that may leave from cycle `from` on.
  void send(Lane lane, Cycle from, std::uint32_t sm, const icnt::ClusterMessage& message) {
    out_[lane].push({from, static_cast<std::uint16_t>(sm), message});
    queued_bytes_[lane] += message.bytes;
  }
  /// Sends what may leave in this cycle.
  void tick(Cycle now);
  /// receive(SM, message) for what is taken in this cycle.
  template <class F>
  void receive(Cycle now, F&& receive) {
    using Kind = icnt::ClusterMessage::Kind;
    inbox_.drain(now, [&](std::uint32_t source, const icnt::ClusterMessage& message) {
      if (message.kind == Kind::kAccess && message.bytes == 0) return receive(source, message);
      arrived_.push({now, static_cast<std::uint16_t>(source), message});
    });
    while (!arrived_.empty() && in_free_ <= now) {
      const Item item = arrived_.front();
      arrived_.pop();
      in_free_ = now + cycles(item.message.bytes);
      receive(item.sm, item.message);
    }
  }

  /// receive() or tick() may have something to do in this cycle.
  [[nodiscard]] bool active(Cycle now) const {
    return inbox_.next_arrival() <= now || !arrived_.empty() || !out_[kRequests].empty() ||
           !out_[kReplies].empty() || !out_[kCopies].empty();
  }
  /// Cycle > now at which receive() or tick() has something to do; kNever.
  [[nodiscard]] Cycle next_event(Cycle now) const {
    Cycle next = inbox_.next_arrival();
    if (!arrived_.empty()) next = std::min(next, in_free_);
    for (const Ring<Item>& lane : out_)
      if (!lane.empty()) next = std::min(next, may_leave(lane.front()));
    return std::max(next, now + 1);
  }
  /// The lane has data that have not left.
  [[nodiscard]] bool has_data(Lane lane) const { return queued_bytes_[lane] > 0; }
  [[nodiscard]] bool idle() const {
    return arrived_.empty() && inbox_.size() == 0 && out_[kRequests].empty() && out_[kReplies].empty() &&
           out_[kCopies].empty();
  }
  /// Cycles by which a reply's result comes later, where cluster.latency is no whole number of hops.
  [[nodiscard]] Cycle rest() const { return rest_; }
  [[nodiscard]] std::size_t queued() const {
    return out_[kRequests].size() + out_[kReplies].size() + out_[kCopies].size() + arrived_.size();
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(network_), a.given(sm_), a.given(hop_), a.given(rest_),
              a.given(barrier_latency_), a.given(bytes_), inbox_, out_, arrived_, queued_bytes_, out_free_,
              in_free_, turn_);
  }

 private:
  static constexpr std::uint32_t kLargestMessage = 2 * kWarpSize * kSectorBytes;  // of an access
  struct Item {
    Cycle from = 0;  // when it may leave; of one that has arrived: when
    std::uint16_t sm = 0;
    icnt::ClusterMessage message = {};
  };
  /// For which a message of that many bytes occupies a port.
  [[nodiscard]] Cycle cycles(std::uint32_t bytes) const { return (bytes + bytes_ - 1) / bytes_; }
  [[nodiscard]] Cycle may_leave(const Item& item) const {
    return item.message.bytes == 0 ? item.from : std::max(item.from, out_free_);
  }
  void send_without_data(Cycle now);
  void send_front(Cycle now, unsigned lane);

  sim::Network<icnt::ClusterMessage>* network_;
  std::uint32_t sm_;
  Cycle hop_, rest_, barrier_latency_;
  std::uint32_t bytes_;
  sim::Inbox<icnt::ClusterMessage> inbox_;
  std::array<Ring<Item>, kLanes> out_;
  Ring<Item> arrived_;
  std::array<std::uint64_t, kLanes> queued_bytes_{};
  Cycle out_free_ = 0, in_free_ = 0;
  unsigned turn_ = 0;  // the lane that sends data first
};

}  // namespace lockstep::core
