#include "net/served_queues.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

namespace lockstep::net {

void ServedQueues::add(const AgentNews& news) {
  if (news.device >= queue_of_.size()) queue_of_.resize(news.device + std::size_t{1});
  std::vector<std::uint32_t>& numbers = queue_of_[news.device];
  if (news.queue >= numbers.size()) numbers.resize(news.queue + std::size_t{1});
  numbers[news.queue] = static_cast<std::uint32_t>(queues_.size());
  Queue& queue = queues_.emplace_back();
  queue.device = news.device;
  queue.number = news.queue;
  queue.base = news.address;
  queue.index = news.index;
  queue.entries = std::max<std::uint64_t>(news.bytes / trace::kNetEntryBytes, 1);
}

void ServedQueues::push(const AgentNews& news) {
  queues_[queue_of_[news.device][news.operation.queue]].waiting.push(news.operation);
  ++waiting_;
}

std::uint32_t ServedQueues::next_waiting(std::uint32_t queue) const {
  const auto count = static_cast<std::uint32_t>(queues_.size());
  do queue = queue + 1 >= count ? 0 : queue + 1;
  while (queues_[queue].waiting.empty());
  return queue;
}

OperationId ServedQueues::take(std::uint32_t number, std::uint64_t ps) {
  Queue& queue = queues_[number];
  queue.waiting.pop();
  --waiting_;
  ++unfinished_;
  queue.open.push({});
  queue.depth.enter(ps);
  return {number, queue.taken++};
}

void ServedQueues::set_complete(const OperationId& id) {
  Queue& queue = queues_[id.queue];
  queue.open[place(id)].complete = true;
  while (queue.completed < queue.taken && queue.open[queue.completed - queue.first].complete)
    ++queue.completed;
  drop_finished(queue);
}

bool ServedQueues::first_incomplete(const OperationId& id) const {
  return queues_[id.queue].completed == id.number;
}

bool ServedQueues::take_quiet(std::uint32_t number, OperationId& id) {
  Queue& queue = queues_[number];
  if (queue.completed == queue.taken || !queue.open[queue.completed - queue.first].quiet) return false;
  id = {number, queue.completed};
  set_complete(id);
  return true;
}

void ServedQueues::set_finished(const OperationId& id) { queues_[id.queue].open[place(id)].finished = true; }

bool ServedQueues::advance_index(std::uint32_t number) {
  Queue& queue = queues_[number];
  if (queue.indexed == queue.taken || !queue.open[queue.indexed - queue.first].finished) return false;
  ++queue.indexed;
  drop_finished(queue);
  return true;
}

void ServedQueues::drop_finished(Queue& queue) {
  for (; queue.first < std::min(queue.completed, queue.indexed); ++queue.first) {
    queue.open.pop();
    --unfinished_;
  }
}

DepthCounters ServedQueues::depth(std::uint64_t ps) const {
  DepthCounters all;
  for (const Queue& queue : queues_) all.add(queue.depth.counters(ps));
  return all;
}

void ServedQueues::dump(std::string& out) const {
  for (const Queue& queue : queues_) {
    if (queue.waiting.empty() && queue.first == queue.taken) continue;
    fmt::format_to(std::back_inserter(out),
                   "  queue {} of device {}: {} entries taken, {} finished, {} complete", queue.number,
                   queue.device, queue.taken, queue.indexed, queue.completed);
    if (!queue.waiting.empty())
      fmt::format_to(
          std::back_inserter(out), "; waits for signal {} of its next entry at {:#x}, {} more behind it",
          queue.waiting.front().ready, queue.base + queue.taken % queue.entries * trace::kNetEntryBytes,
          queue.waiting.size() - 1);
    out += '\n';
  }
}

}  // namespace lockstep::net
