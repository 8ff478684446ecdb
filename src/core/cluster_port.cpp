#include "core/cluster_port.hpp"

namespace lockstep::core {

void ClusterPort::tick(Cycle now) {
  send_without_data(now);
  if (out_free_ > now) return;
  for (unsigned i = 0; i < kLanes; ++i) {
    const unsigned lane = (turn_ + i) % kLanes;
    if (out_[lane].empty() || out_[lane].front().from > now) continue;
    send_front(now, lane);
    turn_ = (lane + 1) % kLanes;
    break;
  }
  send_without_data(now);
}

void ClusterPort::send_without_data(Cycle now) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    while (!out_[lane].empty() && out_[lane].front().message.bytes == 0 && out_[lane].front().from <= now)
      send_front(now, lane);
}

void ClusterPort::send_front(Cycle now, unsigned lane) {
  using Kind = icnt::ClusterMessage::Kind;
  const Item item = out_[lane].front();
  out_[lane].pop();
  queued_bytes_[lane] -= item.message.bytes;
  const Cycle taken = cycles(item.message.bytes), first = cycles(kSectorBytes);
  if (taken > 0) out_free_ = now + taken;
  const bool barrier = item.message.kind == Kind::kBarrier || item.message.kind == Kind::kGone;
  const Cycle arrival = now + hop_ + std::max(taken, first) - first;
  network_->send(sm_, item.sm, barrier ? std::max(arrival, item.from + barrier_latency_) : arrival,
                 item.message);
}

}  // namespace lockstep::core
