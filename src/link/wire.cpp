#include "link/wire.hpp"

#include <algorithm>

#include "util/bits.hpp"

namespace lockstep::link {

Wire::Wire(Network& network, std::uint32_t source, std::uint32_t destination, unsigned queues,
           const WireSpec& spec)
    : network_(&network),
      source_(source),
      destination_(destination),
      cycle_to_byte_(spec.sender_khz * 1000, spec.bytes_per_second),
      byte_to_cycle_(spec.bytes_per_second, spec.sender_khz * 1000),
      to_receiver_(spec.sender_khz, spec.receiver_khz),
      latency_(spec.latency),
      queues_(queues),
      last_(queues - 1) {}

/// Precondition: something waits.
unsigned Wire::pick() {
  do last_ = last_ + 1 == queues_.size() ? 0 : last_ + 1;
  while (queues_[last_].empty());
  return last_;
}

void Wire::tick(Cycle now) {
  const std::uint64_t first = cycle_to_byte_.ceil(now), end = cycle_to_byte_.ceil(now + 1);
  while (waiting_ > 0 && free_ < end) {
    Ring<Message>& queue = queues_[pick()];
    const Message& message = queue.front();
    free_ = std::max(free_, first) + message.bytes;
    const Cycle arrival = std::max(byte_to_cycle_.ceil(free_), now + 1) + latency_;
    network_->send(source_, destination_, to_receiver_.ceil(arrival), message);
    ++counters_.messages;
    counters_.bytes += message.bytes;
    const bool data = message.answer ? icnt::answer_carries_data(message.access.kind)
                                     : icnt::carries_data(message.access.kind);
    if (data) counters_.data_bytes += bit_count(message.access.sectors) * kSectorBytes;
    queue.pop();
    --waiting_;
  }
}

Cycle Wire::next_event(Cycle now) const {
  return waiting_ == 0 ? kNever : std::max(now + 1, byte_to_cycle_.floor(free_));
}

}  // namespace lockstep::link
