#include "cuda/stream_log.hpp"

#include <algorithm>
#include <utility>

#include "cuda/host_time.hpp"

namespace lockstep::cuda {

namespace {
using CommandKind = trace::Command::Kind;
}

StreamLog::StreamLog(unsigned devices) : devices_(devices) {
  for (unsigned d = 0; d < devices; ++d) streams_[d].device = d;
}

void StreamLog::elapse() {
  trace::Command command;
  command.kind = CommandKind::kHostTask;
  command.task.kind = trace::HostTask::Kind::kElapse;
  const bool behind_wait = behind_last_wait_ == commands_.size();
  while ((command.task.bytes = HostTime::take_ps()) > 0) commands_.push_back(command);
  if (behind_wait) behind_last_wait_ = commands_.size();
}

void StreamLog::push(const trace::Command& command) {
  elapse();
  commands_.push_back(command);
}

std::uint32_t StreamLog::number_of(HostThread thread) {
  const auto next = std::min<std::size_t>(threads_.size(), trace::Command::kMaxThreads - 1);
  return threads_.try_emplace(thread, static_cast<std::uint32_t>(next)).first->second;
}

void StreamLog::call(trace::Command::Call call, unsigned device) {
  trace::Command command;
  command.kind = CommandKind::kHostCall;
  command.thread = caller_;
  command.call = call;
  command.device = static_cast<std::uint16_t>(device);
  push(command);
}

void StreamLog::called_by(HostThread thread) {
  const std::uint32_t number = number_of(thread);
  if (std::exchange(caller_, number) != number) call(trace::Command::Call::kNothing, 0);
}

void StreamLog::launch_call(HostThread thread, unsigned device) {
  caller_ = number_of(thread);
  call(trace::Command::Call::kLaunch, device);
}

void StreamLog::enter(std::uint32_t stream, bool blocking, unsigned device) {
  Stream& s = streams_[stream];
  s.device = device;
  if (const Device& own = devices_[device]; s.holds != own.holds) {
    s.holds = own.holds;
    stream_wait(stream, own.held_by);
  }
  if (!blocking) return;
  if (is_default(stream)) return wait_for_blocking(stream);
  devices_[device].unseen.insert(stream);
  const std::uint64_t before = streams_[device].commands;
  if (s.default_seen == before) return;
  s.default_seen = before;
  stream_wait(stream, mark(device));
}

/// The default stream of device `number` waits for the blocking ones.
void StreamLog::wait_for_blocking(std::uint32_t number) {
  for (const std::uint32_t other : std::exchange(devices_[number].unseen, {}))
    stream_wait(number, mark(other));
}

void StreamLog::add(std::uint32_t stream, trace::Command command) {
  Stream& s = streams_[stream];
  command.stream = stream;
  command.device = static_cast<std::uint16_t>(s.device);
  push(command);
  ++s.commands;
  devices_[s.device].idle = false;
}

void StreamLog::add_host(const trace::Command& command) {
  push(command);
  for (Device& device : devices_) device.idle = false;
}

void StreamLog::place(unsigned device, Address begin, std::uint64_t bytes) {
  trace::Command command{CommandKind::kPlace, begin, bytes};
  command.device = static_cast<std::uint16_t>(device);
  push(command);
}

void StreamLog::multicast(unsigned device, Address begin, std::uint64_t bytes, Address memory) {
  trace::Command command{CommandKind::kMulticast, begin, bytes};
  command.source = memory;
  command.device = static_cast<std::uint16_t>(device);
  push(command);
}

std::uint32_t StreamLog::record(std::uint32_t stream, trace::Command::Timestamp timestamp) {
  Stream& s = streams_[stream];
  s.recorded = put_event(stream, timestamp);
  s.recorded_waits = true;
  return s.recorded;
}

std::uint32_t StreamLog::put_event(std::uint32_t stream, trace::Command::Timestamp timestamp) {
  Stream& s = streams_[stream];
  trace::Command command;
  command.timestamp = timestamp;
  command.kind = CommandKind::kEventRecord;
  command.stream = stream;
  command.device = static_cast<std::uint16_t>(s.device);
  push(command);
  s.marked = s.commands;
  s.mark = static_cast<std::uint32_t>(events_.size());
  events_.push_back(stream);
  return s.mark;
}

std::uint32_t StreamLog::mark(std::uint32_t stream) {
  const Stream& s = streams_[stream];
  return s.marked == s.commands ? s.mark : put_event(stream, trace::Command::Timestamp::kNone);
}

void StreamLog::stream_wait(std::uint32_t stream, std::uint32_t event) {
  trace::Command command;
  command.kind = CommandKind::kStreamWait;
  command.event = event;
  add(stream, command);
}

std::uint32_t StreamLog::mark_end(std::uint32_t stream, unsigned device) {
  streams_[stream].device = device;
  if (is_default(stream)) wait_for_blocking(stream);
  return mark(stream);
}

void StreamLog::wait_for_device(std::uint32_t stream) {
  const unsigned device = device_of(stream);
  for (auto& [number, other] : streams_) {
    if (other.device != device || number == stream || other.gathered == other.commands) continue;
    other.gathered = other.commands;
    stream_wait(stream, mark(number));
  }
}

void StreamLog::hold_device(std::uint32_t stream) {
  Stream& s = streams_[stream];
  Device& own = devices_[s.device];
  own.held_by = mark(stream);
  s.holds = ++own.holds;
}

void StreamLog::end_wait(const trace::Command& wait, Waiter waiter) {
  push(wait);
  if (waiter == Waiter::kProgram) call(trace::Command::Call::kReturn, wait.device);
  last_wait_ = wait;
  behind_last_wait_ = commands_.size();
}

bool StreamLog::is_idle(unsigned device) const {
  return devices_[device].idle && std::ranges::none_of(streams_, [device](const auto& entry) {
           return entry.second.device == device && entry.second.recorded_waits;
         });
}

void StreamLog::wait_all(unsigned device, Waiter waiter) {
  if (is_idle(device)) return;
  devices_[device].idle = true;
  trace::Command command{CommandKind::kWait};
  command.device = static_cast<std::uint16_t>(device);
  end_wait(command, waiter);
  for (auto& [number, s] : streams_) {
    if (s.device != device) continue;
    s.waited = s.commands;
    s.recorded_waits = false;
  }
  devices_[device].unseen.clear();
}

void StreamLog::wait_stream(std::uint32_t stream, Waiter waiter) {
  Stream& s = streams_[stream];
  if (s.commands == s.waited && !s.recorded_waits &&
      (!is_default(stream) || devices_[s.device].unseen.empty()))
    return;
  const std::uint32_t end = mark_end(stream, s.device);
  s.waited = s.commands;
  wait_event(end, waiter);
}

void StreamLog::wait_event(std::uint32_t event, Waiter waiter) {
  Stream& s = streams_[events_[event]];
  if (event >= s.recorded) s.recorded_waits = false;
  const bool again = behind_last_wait_ != 0 && behind_last_wait_ == commands_.size() &&
                     last_wait_.kind == CommandKind::kEventWait && last_wait_.event == event;
  if (again) return;
  trace::Command command;
  command.kind = CommandKind::kEventWait;
  command.event = event;
  command.device = static_cast<std::uint16_t>(s.device);
  end_wait(command, waiter);
}

}  // namespace lockstep::cuda
