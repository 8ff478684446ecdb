#include "cuda/recording.hpp"

#include <cerrno>

#include "cuda/context.hpp"

namespace lockstep::cuda {

Recording::Recording(const Settings& settings, MemoryLog& memory) : ordered_(settings.devices == 1) {
  if (settings.trace.empty()) return;
  recorder_ = std::make_unique<Recorder>(
      settings.trace, settings.socket < 0 ? nullptr : std::make_unique<Wire>(settings.socket),
      settings.devices);
  if (settings.listings) recorder_->send_listings();
  memory.record_into(recorder_->log());
  for (unsigned d = 0; d < settings.devices; ++d)
    memory.place(d, exec::kArenaBase + exec::device_region(d) * exec::kRegionBytes, exec::kRegionBytes);
  set_name(program_invocation_short_name);
}

void Recording::set_name(const std::string& name) {
  if (recorder_) recorder_->set_name(name);
}

void Recording::begin(const StreamState& stream, const Issue& issue) {
  if (!recorder_) return;
  if (issue.as == Issue::As::kGraph) return recorder_->log().launch_call(issue.thread, stream.device);
  recorder_->log().called_by(issue.thread);
}

StreamLog* Recording::enter(const StreamState& stream) {
  if (!recorder_) return nullptr;
  recorder_->log().enter(stream);
  return &recorder_->log();
}

void Recording::tell() {
  if (recorder_) recorder_->tell(ordered_);
}

void Recording::wait_all(unsigned device) {
  if (!recorder_) return;
  recorder_->log().called_by(calling_thread());
  recorder_->log().wait_all(device);
  tell();
}

void Recording::wait_stream(const StreamState& stream, StreamLog::Waiter waiter) {
  if (!recorder_) return;
  recorder_->log().called_by(calling_thread());
  recorder_->log().wait_stream(stream.number, stream.blocks(), waiter);
  tell();
}

void Recording::wait_event(std::uint32_t record) {
  if (!recorder_) return;
  recorder_->log().called_by(calling_thread());
  recorder_->log().wait_event(record);
  tell();
}

Recorder::Answer Recording::ask(std::uint32_t record) {
  tell();
  return recorder_->ask(record);
}

std::optional<std::uint64_t> Recording::host_cycle() {
  if (!live()) return std::nullopt;
  recorder_->log().called_by(calling_thread());
  tell();
  return recorder_->ask_host();
}

bool Recording::is_pending(std::uint32_t record) {
  if (!live()) return false;
  const auto answer = ask(record);
  return answer.there && !answer.cycle;
}

void Recording::end_order() {
  if (recorder_) recorder_->log().wait_all(current_device(), StreamLog::Waiter::kRuntime);
  tell();
  ordered_ = false;
}

void Recording::finish() {
  if (recorder_) recorder_->finish();
}

}  // namespace lockstep::cuda
