#include "link/wire.hpp"

#include <algorithm>

#include "util/bits.hpp"

namespace lockstep::link {

Wire::Wire(Network& network, std::uint32_t source, std::uint32_t destination, unsigned queues,
           const WireSpec& spec)
    : network_(&network),
      log_(spec.log),
      source_(source),
      destination_(destination),
      cycle_to_byte_(spec.sender_khz * 1000, spec.bytes_per_second),
      byte_to_cycle_(spec.bytes_per_second, spec.sender_khz * 1000),
      to_receiver_(spec.sender_khz, spec.receiver_khz),
      latency_(spec.latency),
      queues_(queues, Ring<Message>(1)),
      filled_(queues),
      last_(queues - 1),
      bounded_(spec.credit_bytes[0] > 0 || spec.credit_bytes[1] > 0),
      credits_{Credits(spec.credit_bytes[0]), Credits(spec.credit_bytes[1])},
      ordered_(spec.ordered_replies) {}

void Wire::note_order(const Message& message) {
  if (is_posted_write(message)) ++writes_pushed_;
  if (is_ordered_reply(message)) writes_before_.push(writes_pushed_);
}

/// Precondition: something waits. A queue whose first message waits for a write is not the only one: that
/// write is in another.
unsigned Wire::pick() {
  do last_ = static_cast<unsigned>(filled_.next_after(last_));
  while (passes_write(last_));
  return last_;
}

/// kNone where every message that is next lacks credits.
unsigned Wire::pick_with_credits() {
  unsigned queue = last_;
  for (std::size_t left = filled_.count(); left > 0; --left) {
    queue = static_cast<unsigned>(filled_.next_after(queue));
    if (passes_write(queue)) continue;
    const Message& message = queues_[queue].front();
    const std::size_t traffic = traffic_of(message);
    unsigned& held = held_[traffic];
    if (held != kNone && held != queue) continue;
    held = credits_[traffic].allow(message.bytes) ? kNone : queue;
    if (held == kNone) return last_ = queue;
  }
  return kNone;
}

void Wire::tick_with_credits(Cycle now) {
  count_stalls(now);
  pushed_ = false;
  for (Credits& credits : credits_) credits.collect(now);
  while (waiting_ > 0 && ready_ <= now) {
    const unsigned queue = pick_with_credits();
    if (queue == kNone) {
      for (std::size_t t = 0; t < kTraffics; ++t) stalled_[t] = held_[t] != kNone;
      return;
    }
    send(now, queue);
  }
}

/// Those that began with the last tick.
void Wire::count_stalls(Cycle now) {
  for (std::size_t t = 0; t < kTraffics; ++t)
    if (stalled_[t]) counters_.credit_stalls[t] += now - stalled_from_;
  stalled_ = {};
  stalled_from_ = now;
}

void Wire::send(Cycle now, unsigned queue) {
  const Message& message = queues_[queue].front();
  if (ready_ < now) free_ = std::max(free_, cycle_to_byte_.ceil(now));  // else byte free_ begins in `now`
  free_ += message.bytes;
  const sim::ClockRatio::Edges end = byte_to_cycle_.around(free_);
  ready_ = end.floor;
  const Cycle arrival = std::max(end.ceil, now + 1) + latency_;
  credits_[traffic_of(message)].take(message.bytes, arrival + latency_);
  if (log_ && log_->on())
    log_->note(std::max(now, arrival - latency_ - byte_to_cycle_.ceil(message.bytes)), arrival - latency_,
               message.bytes);
  network_->send(source_, destination_, to_receiver_.ceil(arrival), message);
  ++counters_.messages;
  counters_.bytes += message.bytes;
  const bool data = message.is_reply ? icnt::reply_carries_data(message.access.kind)
                                     : icnt::carries_data(message.access.kind);
  if (data) counters_.data_bytes += bit_count(message.access.sectors) * kSectorBytes;
  if (ordered_ && is_posted_write(message)) ++writes_sent_;
  if (ordered_ && is_ordered_reply(message)) writes_before_.pop();
  queues_[queue].pop();
  if (queues_[queue].empty()) filled_.erase(queue);
  --waiting_;
}

Cycle Wire::next_credits(Cycle now) const {
  Cycle next = kNever;
  for (std::size_t t = 0; t < kTraffics; ++t)
    if (stalled_[t]) next = std::min(next, credits_[t].next_return());
  return std::max(now + 1, next);
}

}  // namespace lockstep::link
