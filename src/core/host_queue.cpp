#include "core/host_queue.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::core {

HostQueue::HostQueue(std::vector<HostCommand> commands, std::uint32_t streams, config::CopyMode mode)
    : commands_(std::move(commands)), links_(commands_.size()), tail_(streams, kNone), mode_(mode) {}

void HostQueue::enqueue(std::uint32_t command, Cycle now) {
  ++kernels_out_;
  links_[command].taken = now;
  std::uint32_t& tail = tail_[commands_[command].stream];
  if (tail == kNone) {
    ready_.push({command, now});
  } else {
    links_[tail].next = command;
  }
  tail = command;
}

HostQueue::Ready HostQueue::pop_ready() {
  const Ready first = ready_.top();
  ready_.pop();
  return first;
}

void HostQueue::kernel_done(std::uint32_t command, Cycle end) {
  --kernels_out_;
  const std::uint32_t next = links_[command].next;
  if (next == kNone) {
    tail_[commands_[command].stream] = kNone;
  } else {
    ready_.push({next, std::max(end, links_[next].taken)});
  }
}

}  // namespace lockstep::core
