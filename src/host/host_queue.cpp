#include "host/host_queue.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::host {

using CommandKind = HostCommand::Kind;

namespace {

bool is_copy(CommandKind kind) {
  return kind == CommandKind::kCopyToDevice || kind == CommandKind::kCopyToHost ||
         kind == CommandKind::kStreamCopyToDevice || kind == CommandKind::kStreamCopyToHost ||
         kind == CommandKind::kFill || kind == CommandKind::kDeviceCopy || kind == CommandKind::kPeerCopy;
}

}  // namespace

HostQueue::HostQueue(const std::vector<HostCommand>& commands, std::uint32_t streams, config::CopyMode mode)
    : streams_(streams), mode_(mode) {
  append(commands, Until::kTaken);
}

void HostQueue::append(const std::vector<HostCommand>& commands, Until until) {
  for (const HostCommand& c : commands) {
    event_of_.push_back(c.kind == CommandKind::kEventRecord ? records_++ : kNone);
    commands_.push_back(c);
    copies_left_ += is_copy(c.kind) ? 1 : 0;
  }
  links_.resize(commands_.size());
  until_ = until;
}

HostQueue::Event& HostQueue::event(std::uint32_t number) {
  if (number >= events_.size()) events_.resize(number + std::size_t{1});
  return events_[number];
}

std::optional<Time> HostQueue::record_time(std::uint32_t number) const {
  if (number >= events_.size() || !events_[number].complete) return std::nullopt;
  return events_[number].moment.at;
}

std::optional<Time> HostQueue::event_time(std::uint32_t number) const {
  const auto time = record_time(number);
  return time && events_[number].moment.heard <= host_time_ ? time : std::nullopt;
}

/// The next command. False: the host waits.
bool HostQueue::take() {
  const HostCommand& c = commands_[next_];
  if (c.kind == CommandKind::kCopyToDevice || c.kind == CommandKind::kCopyToHost) return take_plain_copy();
  if (copies_out_ > 0) return false;
  copying_ = false;
  if (std::exchange(gated_, false)) host_time_ = std::max(host_time_, gate_);
  if (c.kind == CommandKind::kWait) {
    if (out_ > 0) return false;
    host_time_ = std::max(host_time_, latest_.heard);
  } else if (c.kind == CommandKind::kEventWait) {
    const Event& e = event(c.event);
    if (!e.complete) return false;
    host_time_ = std::max(host_time_, e.moment.heard);
  } else if (c.kind == CommandKind::kCall) {
    take_call(c);
  } else if (c.kind == CommandKind::kManagedCommand) {
    if (is_busy()) return false;
    gated_ = true;
    ++copies_out_;
    copies_.push_back(next_);
  } else if (c.kind == CommandKind::kNotice || c.kind == CommandKind::kNetwork) {
    if (c.kind == CommandKind::kNotice && is_busy()) return false;
    copies_.push_back(next_);
  } else {
    enqueue(next_);
  }
  ++next_;
  return true;
}

void HostQueue::take_call(const HostCommand& call) {
  if (call.thread >= threads_.size()) threads_.resize(call.thread + std::size_t{1}, kNever);
  caller_ = call.thread;
  if (threads_[caller_] == kNever) threads_[caller_] = threads_[0];
  threads_[caller_] = call_time() + time_of_ns_.ceil(call.busy_ns);
}

bool HostQueue::is_busy() {
  if (call_time() <= now_) return false;
  held_until_ = call_time();
  return true;
}

void HostQueue::advance_to(Time now) {
  now_ = now;
  for (; !calls_.empty() && calls_.begin()->first <= now; calls_.erase(calls_.begin()))
    awake_.push_back(calls_.begin()->second);
  run_streams();
}

bool HostQueue::take_plain_copy() {
  const bool overlapped = mode_ == config::CopyMode::kOverlapped;
  // Neighbouring copies do not wait for each other in overlapped mode; the link orders them.
  const bool neighbour = overlapped && copying_;
  if ((copies_out_ > 0 && !neighbour) || (!overlapped && out_ > 0) || is_busy()) return false;
  gated_ = copying_ = true;
  ++copies_out_;
  copies_.push_back(next_++);
  return true;
}

void HostQueue::enqueue(std::uint32_t index) {
  const std::uint32_t number = commands_[index].stream;
  if (number >= streams_.size()) streams_.resize(number + std::size_t{1});
  Stream& stream = streams_[number];
  const CommandKind kind = commands_[index].kind;
  ++out_;
  if (kind == CommandKind::kKernel) ++kernels_out_;
  links_[index] = {kNone, call_time()};
  if (stream.tail == kNone) {
    stream.head = index;
    awake_.push_back(number);
  } else {
    links_[stream.tail].next = index;
  }
  stream.tail = index;
  run_streams();
}

void HostQueue::run_streams() {
  while (!awake_.empty()) {
    Stream& stream = streams_[awake_.back()];
    awake_.pop_back();
    while (stream.head != kNone && !stream.running && start_head(stream)) {
    }
  }
}

/// False: the stream must wait.
bool HostQueue::start_head(Stream& stream) {
  const std::uint32_t index = stream.head;
  const HostCommand& c = commands_[index];
  if (links_[index].taken > now_) {
    calls_.emplace(links_[index].taken, c.stream);
    return false;
  }
  stream.last.join({links_[index].taken, links_[index].taken});
  if (const Time call = process_call(c, stream); call > 0) {
    const Time ready = stream.last.at + call;
    if (ready > now_) {
      calls_.emplace(ready, c.stream);
      return false;
    }
    stream.last.join({ready, ready});
  }
  switch (c.kind) {
    case CommandKind::kKernel:
      stream.running = true;
      if (c.device >= ready_.size()) ready_.resize(c.device + std::size_t{1});
      ready_[c.device].push({index, stream.last.at});
      return false;
    case CommandKind::kEventRecord: {
      Event& e = event(event_of_[index]);
      e.complete = true;
      e.moment = stream.last;
      awake_.insert(awake_.end(), e.waiting.begin(), e.waiting.end());
      e.waiting.clear();
      break;
    }
    case CommandKind::kStreamWait: {
      Event& e = event(c.event);
      if (!e.complete) {
        e.waiting.push_back(c.stream);
        return false;
      }
      stream.last.join(e.moment);
      break;
    }
    default:
      stream.running = true;
      ++stream_copies_out_;
      copies_.push_back(index);
      return false;
  }
  pop_head(stream);
  return true;
}

/// What the process spends between a kernel and a task.
Time HostQueue::process_call(const HostCommand& command, const Stream& stream) const {
  const bool changes = (command.kind == CommandKind::kTask && stream.before == CommandKind::kKernel) ||
                       (command.kind == CommandKind::kKernel && stream.before == CommandKind::kTask);
  return changes ? time_of_ns_.ceil(command.busy_ns) : 0;
}

void HostQueue::pop_head(Stream& stream) {
  latest_.join(stream.last);
  --out_;
  const CommandKind kind = commands_[stream.head].kind;
  if (kind == CommandKind::kKernel || kind == CommandKind::kTask) stream.before = kind;
  stream.head = links_[stream.head].next;
  if (stream.head == kNone) stream.tail = kNone;
}

HostQueue::Ready HostQueue::pop_ready(std::uint16_t device) {
  const Ready first = ready_[device].top();
  ready_[device].pop();
  return first;
}

void HostQueue::complete(std::uint32_t number, const Moment& moment) {
  Stream& stream = streams_[number];
  stream.running = false;
  stream.last.join(moment);
  pop_head(stream);
  awake_.push_back(number);
  run_streams();
}

void HostQueue::kernel_done(std::uint32_t command, Time end, Time now) {
  now_ = std::max(now_, now);
  --kernels_out_;
  complete(commands_[command].stream, {end, now});
}

void HostQueue::copy_done(std::uint32_t command, Time end, Time now) {
  now_ = std::max(now_, now);
  const CommandKind kind = commands_[command].kind;
  copies_left_ -= is_copy(kind) ? 1 : 0;
  if (kind == CommandKind::kCopyToDevice || kind == CommandKind::kCopyToHost ||
      kind == CommandKind::kManagedCommand) {
    --copies_out_;
    gate_ = now;
    latest_.join({end, now});
    return;
  }
  --stream_copies_out_;
  complete(commands_[command].stream, {end, now});
}

}  // namespace lockstep::host
