#include "net/direct_queues.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace lockstep::net {

void DirectQueues::receive(Cycle now, const AgentNews& news) {
  if (news.kind == AgentNews::Kind::kMemory) return;  // commands are in the queues
  if (news.device >= queues_.size()) queues_.resize(news.device + std::size_t{1});
  auto& queues = queues_[news.device];
  if (news.kind == AgentNews::Kind::kOperation) {
    Queue& queue = *queues[news.operation.queue];
    queue.waiting.push(news.operation);
    return begin(now, queue);
  }
  Queue& queue = *queues.emplace_back(std::make_unique<Queue>());
  queue.number = news.queue;
  const auto entries =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(news.bytes / trace::kNetEntryBytes, 1));
  queue.pair = std::make_unique<QueuePair>(entries, news.device, news.device);
  queue.pair->commands = news.address;
  queue.pair->index = news.index;
  queue.pair->counters = &counters_;
}

/// By the place: memory that was another queue's before is the newest one's.
void DirectQueues::ring(Cycle now, std::uint16_t device, const icnt::Request& store) {
  if (device >= queues_.size()) return;  // no queue yet
  const Address entry = store.line + ((store.bytes[0] & 0xf) != 0 ? 0 : trace::kNetEntryBytes);
  auto& queues = queues_[device];
  const auto found = std::find_if(queues.rbegin(), queues.rend(), [&](const auto& queue) {
    return entry - queue->pair->commands < queue->pair->entries() * trace::kNetEntryBytes;
  });
  if (found == queues.rend()) return;
  ++(*found)->rung;
  visible_.push_back({entry, now});
  begin(now, **found);
}

void DirectQueues::begin(Cycle now, Queue& queue) {
  for (; queue.begun < queue.rung && !queue.waiting.empty(); ++queue.begun, queue.waiting.pop()) {
    Command& command = queue.pair->command[queue.pair->place(queue.begun)];
    command = {queue.waiting.front(), {}};
    command.moment(Moment::kSeen) = command.moment(Moment::kIssued) = clock_.ps(now);
    ++counters_.found;
    queue.pair->entries_open.enter(clock_.ps(now));
    operations_->ring(now, *queue.pair, queue.begun);
  }
}

DepthCounters DirectQueues::depth(std::uint64_t ps) const {
  DepthCounters all;
  for (const auto& of_device : queues_)
    for (const auto& queue : of_device) all.add(queue->pair->entries_open.counters(ps));
  return all;
}

void DirectQueues::dump(std::string& out) const {
  for (std::size_t d = 0; d < queues_.size(); ++d)
    for (const auto& queue : queues_[d])
      if (!queue->waiting.empty() || queue->begun != queue->pair->records_written)
        fmt::format_to(std::back_inserter(out),
                       "  queue {} of device {}: doorbell rung {} times, {} entries finished, {} more are to "
                       "come\n",
                       queue->number, d, queue->rung, queue->pair->records_written, queue->waiting.size());
}

}  // namespace lockstep::net
