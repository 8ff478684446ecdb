#include "host/host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace lockstep::host {
namespace {

icnt::CopyCommand::Path path_of(HostCommand::Kind kind) {
  using Path = icnt::CopyCommand::Path;
  if (kind == HostCommand::Kind::kFill) return Path::kFill;
  if (kind == HostCommand::Kind::kPeerCopy) return Path::kPeer;
  return kind == HostCommand::Kind::kDeviceCopy ? Path::kWithin : Path::kLink;
}

bool is_link_copy(HostCommand::Kind kind) {
  using Kind = HostCommand::Kind;
  return kind == Kind::kCopyToDevice || kind == Kind::kCopyToHost || kind == Kind::kStreamCopyToDevice ||
         kind == Kind::kStreamCopyToHost;
}

}  // namespace

void Host::add_device(core::Dispatcher& dispatcher, const sim::DomainClock& clock, Time copy_start) {
  devices_.push_back({&dispatcher, clock, copy_start});
}

void Host::set_source(HostSource& source) {
  source_ = &source;
  queue_.open();
}

Time Host::advance(Time from, Time to) {
  for (Device& device : devices_) device.dispatcher->gather(device.cycle(from));
  if (task_network_) task_ends_.gather(*task_network_, 0, from);
  Time now = std::max(from, next_event(from));
  while (now < to) {
    tick(now);
    now = std::max(now + 1, next_event(now + 1));
  }
  return now;
}

void Host::tick(Time now) {
  for (Device& device : devices_)  // 1. what the devices have completed
    if (device.at_edge(now)) receive(device, now);
  receive_tasks(now);
  if (changed_ || queue_.next_call() <= now) proceed(now);  // 2. commands that may start
  start_prepared(now);
  for (std::uint16_t d = 0; d < devices_.size(); ++d)
    if (devices_[d].at_edge(now)) launch_and_dispatch(d, now);  // 3. kernels and their CTAs
}

void Host::receive(Device& device, Time now) {
  using Kind = core::Dispatcher::Completion::Kind;
  device.dispatcher->receive(device.cycle(now));
  for (const core::Dispatcher::Completion& c : device.dispatcher->completions()) {
    const Time end = c.kind == Kind::kManagedCommand ? now : device.clock.to_time.ceil(c.end);
    if (c.kind == Kind::kCopy) copied_.push_back({c.command, c.start, c.end});
    c.kind == Kind::kKernel ? queue_.kernel_done(c.command, end, now) : queue_.copy_done(c.command, end, now);
    changed_ = true;
  }
}

void Host::receive_tasks(Time now) {
  task_ends_.drain(now, [&](std::uint32_t, const net::TaskEnd& task) {
    last_task_end_ = std::max(last_task_end_, task.end);
    queue_.copy_done(task.command, task.end, now);
    changed_ = true;
  });
}

void Host::proceed(Time now) {
  changed_ = false;
  queue_.advance_to(now);
  const auto copy = [&](std::uint32_t command) {
    const Time takes = preparation(queue_.command(command));
    takes > 0 ? (void)starting_.emplace(now + takes, command) : start_copy(now, command);
  };
  queue_.proceed(copy);
  while (source_ && queue_.at_end()) {
    source_->more(queue_);
    queue_.proceed(copy);
  }
}

Time Host::preparation(const HostCommand& command) const {
  if (command.kind == HostCommand::Kind::kPeerCopy) return peer_copy_start_;
  return is_link_copy(command.kind) ? devices_[command.device].copy_start : 0;
}

void Host::start_copy(Time now, std::uint32_t index) {
  const HostCommand& command = queue_.command(index);
  if (command.kind == HostCommand::Kind::kNetwork || command.kind == HostCommand::Kind::kTask) {
    net::AgentNews news = command.news;
    news.command = index;
    return agents_->send(now, news);
  }
  const Device& device = devices_[command.device];
  if (is_managed_command(command)) {
    uvm::ManagedCommand managed = command.managed;
    managed.index = index;
    return device.dispatcher->send_managed(device.cycle(now), managed);
  }
  device.dispatcher->send_copy(device.cycle(now), {index, is_copy_to_device(command), command.address,
                                                   command.bytes, path_of(command.kind), command.source});
}

void Host::start_prepared(Time now) {
  while (!starting_.empty() && starting_.begin()->first <= now) {
    start_copy(now, starting_.begin()->second);
    starting_.erase(starting_.begin());
  }
}

void Host::launch_and_dispatch(std::uint16_t number, Time now) {
  const Device& device = devices_[number];
  const Cycle cycle = device.cycle(now);
  while (queue_.has_ready(number) && device.dispatcher->slot_free_from(cycle) == cycle) {
    const HostQueue::Ready ready = queue_.pop_ready(number);
    const HostCommand& command = queue_.command(ready.command);
    device.dispatcher->launch(cycle,
                              {ready.command, command.kernel, device.cycle(ready.since), command.graph_node});
  }
  device.dispatcher->dispatch(cycle);
}

Time Host::next_event(Time now) const {
  if (changed_) return now;
  Time next = starting_.empty() ? kNever : std::max(now, starting_.begin()->first);
  next = std::min(next, std::max(now, queue_.next_call()));
  next = std::min(next, std::max(now, task_ends_.next_arrival()));
  for (std::uint16_t d = 0; d < devices_.size(); ++d) {
    const Device& device = devices_[d];
    Cycle due = device.dispatcher->next_event();
    if (queue_.has_ready(d)) due = std::min(due, device.dispatcher->slot_free_from(device.cycle(now)));
    next = std::min(next, device.clock.to_time.floor(due));
  }
  return next;
}

std::unique_ptr<core::ClockLog> Host::take_clocks(std::uint32_t kernel) {
  for (Device& device : devices_)
    if (auto log = device.dispatcher->take_clocks(kernel)) return log;
  return nullptr;
}

bool Host::quiescent() const {
  return queue_.done() && std::all_of(devices_.begin(), devices_.end(),
                                      [](const Device& device) { return device.dispatcher->quiescent(); });
}

void Host::dump(std::string& out) const {
  fmt::format_to(std::back_inserter(out), "host: {} commands taken, {} kernels and {} copies not complete\n",
                 queue_.taken(), queue_.kernels_out(), queue_.copies_out());
}

}  // namespace lockstep::host
