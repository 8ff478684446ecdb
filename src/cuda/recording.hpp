// The recording of the program's work, if it is recorded: its interface to the rest of the runtime.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cuda/event_times.hpp"
#include "cuda/memory_log.hpp"
#include "cuda/recorder.hpp"
#include "cuda/settings.hpp"
#include "cuda/stream_state.hpp"

namespace lockstep::cuda {

/// Where nothing is recorded, every function does nothing.
class Recording {
 public:
  /// Records where `settings` name a trace; what happens to memory, through `memory`, which must outlive
  /// this. Throws UserError.
  Recording(const Settings& settings, MemoryLog& memory);

  [[nodiscard]] Recorder* recorder() { return recorder_.get(); }
  /// A simulation runs beside the program.
  [[nodiscard]] bool live() const { return recorder_ && recorder_->live(); }
  /// What the records of the program's events are marked with.
  [[nodiscard]] trace::Command::Timestamp timestamp() const {
    return timestamps_ ? trace::Command::Timestamp::kEvent : trace::Command::Timestamp::kNone;
  }
  [[nodiscard]] EventTimes& event_times() { return event_times_; }
  /// The trace's name, as Recorder::set_name().
  void set_name(const std::string& name);

  // Ranges of the program: all of it, or what lies between its calls of cudaProfilerStart() and of
  // cudaProfilerStop(). Outside of them work is executed, but not recorded; what it waits for, and what waits
  // for it, is: the order of the ranges' work stays.
  /// Is the program in a range now?
  [[nodiscard]] bool in_range() const { return in_range_; }
  /// True: it has entered one, false: left it. Nothing changes where the program is recorded from its start.
  void set_in_range(bool in_range);
  /// Was what is performed now asked for outside of the ranges?
  [[nodiscard]] bool is_outside() const { return is_outside_; }
  /// While it lasts, work is performed that was asked for in a range or outside.
  class Scope {
   public:
    Scope(Recording& recording, bool in_range)
        : recording_(recording), before_(std::exchange(recording.is_outside_, !in_range)) {}
    ~Scope() { recording_.is_outside_ = before_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Recording& recording_;
    bool before_;
  };

  /// Before work other than a kernel is recorded in `stream` (kernels are passed to the recorder).
  void begin(const StreamState& stream, const Issue& issue);
  /// Before something is recorded in `stream`; nullptr where nothing is recorded.
  [[nodiscard]] StreamLog* enter(const StreamState& stream);
  /// StreamLog::mark_end(). Only where something is recorded.
  [[nodiscard]] std::uint32_t mark_end(const StreamState& stream);
  /// Sends the simulation what is new.
  void send_news();
  // The host waits: for all work of the device, for a stream, for an event's record.
  void wait_all(unsigned device);
  void wait_stream(const StreamState& stream, StreamLog::Waiter waiter = StreamLog::Waiter::kProgram);
  void wait_event(std::uint32_t record);

  /// For a recorded event: Recorder::query(). Only if a simulation runs beside the program.
  [[nodiscard]] Recorder::EventTime query(std::uint32_t record);
  /// For the calling thread: Recorder::query_host(). Nothing if no simulation runs beside the program.
  [[nodiscard]] std::optional<std::uint64_t> host_cycle();
  /// Does the simulation beside the program know that the event is not complete at the host's time?
  [[nodiscard]] bool is_pending(std::uint32_t record);

  /// A stream for which the default stream does not wait is to be made. What was asked for so far comes
  /// first.
  void end_order();
  void finish();

 private:
  /// A wait outside of the ranges is one for their work, and takes the caller no time.
  [[nodiscard]] StreamLog::Waiter waiter_of(StreamLog::Waiter waiter) const {
    return in_range_ ? waiter : StreamLog::Waiter::kRuntime;
  }

  std::unique_ptr<Recorder> recorder_;
  bool timestamps_;
  EventTimes event_times_;
  bool ordered_;  // one device, and no stream was made with cudaStreamNonBlocking
  bool from_start_;
  bool in_range_;
  bool is_outside_ = false;
};

}  // namespace lockstep::cuda
