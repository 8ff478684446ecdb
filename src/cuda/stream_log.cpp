#include "cuda/stream_log.hpp"

#include <utility>

namespace lockstep::cuda {

using Kind = trace::Command::Kind;

void StreamLog::enter(std::uint32_t stream, bool blocking) {
  if (!blocking) return;
  if (stream == 0) {
    for (const std::uint32_t other : std::exchange(unseen_, {})) stream_wait(0, mark(other));
    return;
  }
  unseen_.insert(stream);
  Stream& s = streams_[stream];
  const std::uint64_t before = streams_[0].commands;
  if (s.default_seen == before) return;
  s.default_seen = before;
  stream_wait(stream, mark(0));
}

void StreamLog::add(std::uint32_t stream, trace::Command command) {
  command.stream = stream;
  commands_.push_back(command);
  ++streams_[stream].commands;
  idle_ = false;
}

std::uint32_t StreamLog::record(std::uint32_t stream) {
  trace::Command command;
  command.kind = Kind::kEventRecord;
  command.stream = stream;
  commands_.push_back(command);
  Stream& s = streams_[stream];
  s.marked = s.commands;
  return s.mark = events_++;
}

std::uint32_t StreamLog::mark(std::uint32_t stream) {
  const Stream& s = streams_[stream];
  return s.marked == s.commands ? s.mark : record(stream);
}

void StreamLog::stream_wait(std::uint32_t stream, std::uint32_t event) {
  trace::Command command;
  command.kind = Kind::kStreamWait;
  command.event = event;
  add(stream, command);
}

void StreamLog::wait_all() {
  if (std::exchange(idle_, true)) return;
  commands_.push_back({Kind::kWait});
  for (auto& [number, s] : streams_) s.waited = s.commands;
  unseen_.clear();
}

void StreamLog::wait_stream(std::uint32_t stream, bool blocking) {
  if (streams_[stream].commands == streams_[stream].waited && (stream != 0 || unseen_.empty())) return;
  enter(stream, blocking);
  Stream& s = streams_[stream];
  s.waited = s.commands;
  wait_event(mark(stream));
}

void StreamLog::wait_event(std::uint32_t event) {
  trace::Command command;
  command.kind = Kind::kEventWait;
  command.event = event;
  if (!commands_.empty() && commands_.back().kind == Kind::kEventWait && commands_.back().event == event)
    return;
  commands_.push_back(command);
}

}  // namespace lockstep::cuda
