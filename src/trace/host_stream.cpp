#include "trace/host_stream.hpp"

namespace lockstep::trace {

void HostStream::push(Command command) {
  command.device = device_;
  out_->push_back(command);
}

void HostStream::issue(const Command& command) {
  enter(command.stream);
  push(command);
}

void HostStream::enter(std::uint64_t stream) {
  used_.insert(stream);
  std::uint64_t& followed = followed_[stream];
  if (followed == version_) return;
  followed = version_;
  if (!host_event_) host_event_ = record(kStream);
  stream_wait(stream, *host_event_);
}

void HostStream::add_own(Command command) {
  command.stream = kStream;
  push(command);
  moved();
}

void HostStream::wait_for_all() {
  for (const std::uint64_t stream : used_) stream_wait(kStream, record(stream));
  used_.clear();
  moved();
}

void HostStream::wait_for(std::uint32_t event) {
  stream_wait(kStream, event);
  moved();
}

void HostStream::moved() {
  ++version_;
  host_event_.reset();
}

std::uint32_t HostStream::record(std::uint64_t stream, Command::Timestamp timestamp) {
  Command command;
  command.kind = Command::Kind::kEventRecord;
  command.timestamp = timestamp;
  command.stream = stream;
  push(command);
  return (*events_)++;
}

void HostStream::stream_wait(std::uint64_t stream, std::uint32_t event) {
  Command command;
  command.kind = Command::Kind::kStreamWait;
  command.stream = stream;
  command.event = event;
  push(command);
}

}  // namespace lockstep::trace
