#include "cuda/recording.hpp"

#include <cerrno>

#include "cuda/context.hpp"

namespace lockstep::cuda {

Recording::Recording(const Settings& settings, MemoryLog& memory)
    : timestamps_(settings.timestamps),
      event_times_(settings.event_times),
      ordered_(settings.devices == 1),
      from_start_(settings.profile_from_start || settings.trace.empty()),
      in_range_(from_start_) {
  if (settings.trace.empty()) return;
  recorder_ = std::make_unique<Recorder>(
      settings.trace, settings.socket < 0 ? nullptr : std::make_unique<Wire>(settings.socket),
      settings.devices);
  if (settings.listings) recorder_->send_listings();
  memory.set_watching(in_range_);
  memory.record_into(recorder_->log());
  for (unsigned d = 0; d < settings.devices; ++d)
    memory.place(d, exec::kArenaBase + exec::device_region(d) * exec::kRegionBytes, exec::kRegionBytes);
  set_name(program_invocation_short_name);
}

void Recording::set_name(const std::string& name) {
  if (recorder_) recorder_->set_name(name);
}

void Recording::set_in_range(bool in_range) {
  if (from_start_) return;
  in_range_ = in_range;
}

void Recording::begin(const StreamState& stream, const Issue& issue) {
  if (!recorder_) return;
  if (issue.as == Issue::As::kGraph && !is_outside_)
    return recorder_->log().launch_call(issue.thread, stream.device);
  recorder_->log().called_by(issue.thread);
}

StreamLog* Recording::enter(const StreamState& stream) {
  if (!recorder_) return nullptr;
  recorder_->log().enter(stream);
  return &recorder_->log();
}

std::uint32_t Recording::mark_end(const StreamState& stream) {
  return recorder_->log().mark_end(stream.number, stream.device);
}

void Recording::send_news() {
  if (recorder_) recorder_->send_news(ordered_);
}

void Recording::wait_all(unsigned device) {
  if (!recorder_) return;
  recorder_->log().called_by(calling_thread());
  recorder_->log().wait_all(device, waiter_of(StreamLog::Waiter::kProgram));
  send_news();
}

void Recording::wait_stream(const StreamState& stream, StreamLog::Waiter waiter) {
  if (!recorder_) return;
  recorder_->log().called_by(calling_thread());
  recorder_->log().wait_stream(stream.number, waiter_of(waiter));
  send_news();
}

void Recording::wait_event(std::uint32_t record) {
  if (!recorder_) return;
  recorder_->log().called_by(calling_thread());
  recorder_->log().wait_event(record, waiter_of(StreamLog::Waiter::kProgram));
  send_news();
}

Recorder::EventTime Recording::query(std::uint32_t record) {
  send_news();
  return recorder_->query(record);
}

std::optional<std::uint64_t> Recording::host_cycle() {
  if (!live()) return std::nullopt;
  recorder_->log().called_by(calling_thread());
  send_news();
  return recorder_->query_host();
}

bool Recording::is_pending(std::uint32_t record) {
  if (!live()) return false;
  const auto time = query(record);
  return time.there && !time.cycle;
}

void Recording::end_order() {
  if (recorder_) recorder_->log().wait_all(current_device(), StreamLog::Waiter::kRuntime);
  send_news();
  ordered_ = false;
}

void Recording::finish() {
  if (recorder_) recorder_->finish();
}

}  // namespace lockstep::cuda
