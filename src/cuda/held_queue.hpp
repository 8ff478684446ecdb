// Kernels and streams that wait for a write of the host, and the work behind them: held at its call, done
// when the host waits or asks.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>

#include "cuda/call_watchdog.hpp"
#include "cuda/devices.hpp"
#include "cuda/held_work.hpp"
#include "cuda/memory_log.hpp"
#include "cuda/performer.hpp"
#include "cuda/processes.hpp"
#include "cuda/recording.hpp"
#include "cuda/streams.hpp"
#include "cuda/turns.hpp"
#include "exec/device_memory.hpp"
#include "shmem/agent.hpp"

namespace lockstep::cuda {

class HeldQueue {
 public:
  /// What held work waits in; all must outlive the queue.
  struct Surroundings {
    exec::DeviceMemory& memory;
    MemoryLog& memory_log;
    Devices& devices;
    Streams& streams;
    Recording& recording;
    CallWatchdog& watchdog;
    Processes& processes;
    Turns& turns;
    const shmem::Agent& agent;
    std::recursive_mutex& mutex;  // the runtime's, which the caller of every function has locked
  };
  HeldQueue(Performer& performer, const Surroundings& with) : performer_(performer), with_(with) {}

  /// Performs the operation now, or holds it where it waits or something that is held comes before it.
  void submit(StreamState& stream, Operation operation, Issue issue = {});
  /// Does what can be done, until nothing more can. Was there any?
  bool go_on();
  /// Before the trace says that the host waits, whatever it waits for: where several devices are recorded,
  /// does what can be done. A kernel that is done may have had its signals from one that is held still, which
  /// must be in the trace before the host's wait for the first.
  void catch_up();

  // The host waits until nothing is held: at all, by a device, of a stream, before the event's latest record.
  // Where held work cannot go on and the program has another thread, that may write what is waited for; else
  // it is a fault: ApiError(LaunchTimeout), which says where the kernel stands.
  void wait_all();
  void wait_device(unsigned device);
  void wait_stream(const StreamState& stream);
  void wait_event(const EventState& event);

  /// Whether something that is put into the stream now would be held.
  [[nodiscard]] bool holds(const StreamState& stream) const { return held_.holds(stream); }
  /// Has a wait for the stream anything to wait for?
  [[nodiscard]] bool has(const StreamState& stream) const { return held_.has(stream); }
  /// At the end of the process, or when a device is reset: work that can no longer be done is left out.
  void drop(std::optional<unsigned> device = {});

 private:
  [[nodiscard]] bool holds_at_call(Work& work);
  void hold(Work work);
  void end();
  void count_held();
  [[nodiscard]] bool try_work(Work& work);
  [[nodiscard]] bool may_go_on(const KernelRun& run);
  void wait_until(const std::function<bool()>& done);
  void pause(unsigned round);
  [[noreturn]] void give_up(const Work& work);
  [[nodiscard]] std::string network_waits() const;
  [[nodiscard]] const Work* waiting_kernel() const;

  Performer& performer_;
  Surroundings with_;
  std::list<Work> all_;  // in the order of the calls
  Held held_;            // by all of it
  std::uint64_t last_number_ = 0;
  bool going_on_ = false;  // some of it is being done
};

}  // namespace lockstep::cuda
