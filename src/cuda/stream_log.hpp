// The program's commands in their streams, with what they wait for.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "cuda/issue.hpp"
#include "cuda/stream_state.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::cuda {

/// Writes the order that CUDA's streams give as records of events and waits for them. The default stream
/// and each blocking stream of a device wait for each other: what is put into one comes after everything that
/// the other has by then (CUDA Runtime API, "Stream synchronization behavior", legacy default stream). The
/// default stream of device d has number d.
///
/// Host threads are numbered in the order in which they first call: 0 is the process's first, whenever that
/// calls.
class StreamLog {
 public:
  explicit StreamLog(unsigned devices = 1);
  [[nodiscard]] const std::vector<trace::Command>& commands() const { return commands_; }

  /// What follows is asked for by this thread.
  void called_by(HostThread thread);
  /// That thread calls to launch something on the device, which follows.
  void launch_call(HostThread thread, unsigned device);

  /// Before a command is put into `stream`: what it has to wait for. `blocking`: it was not made with
  /// cudaStreamNonBlocking. `device`: the stream's, the same in every call.
  void enter(std::uint32_t stream, bool blocking, unsigned device = 0);
  void enter(const StreamState& stream) { enter(stream.number, stream.blocks(), stream.device); }
  /// After enter().
  [[nodiscard]] unsigned device_of(std::uint32_t stream) const { return streams_.at(stream).device; }
  /// After enter(). A kernel, copy or event of the stream.
  void add(std::uint32_t stream, trace::Command command);
  /// What the host does itself: commands on managed memory.
  void add_host(const trace::Command& command);
  /// A range of addresses is this device's memory from here on.
  void place(unsigned device, Address begin, std::uint64_t bytes);
  /// As trace::Command::Kind::kMulticast.
  void multicast(unsigned device, Address begin, std::uint64_t bytes, Address memory);
  /// What kernels ask of the network, and with which queues: of no stream.
  void add_network(const trace::Command& command) { push(command); }
  /// What the calling thread has computed since the last command takes time (HostTime). Every other command
  /// comes after it.
  void elapse();
  /// After enter(). The number of the program's new event.
  std::uint32_t record(std::uint32_t stream,
                       trace::Command::Timestamp timestamp = trace::Command::Timestamp::kNone);
  void stream_wait(std::uint32_t stream, std::uint32_t event);

  // After enter(), for whole devices: `stream` waits for all work that streams of its device have; what any
  // of them is given from now on comes after the work of `stream`.
  void wait_for_device(std::uint32_t stream);
  void hold_device(std::uint32_t stream);

  /// An event behind all work that a wait for the stream waits for: what is in it, and for the default stream
  /// also what the blocking ones have. What the default stream has comes before the next work of a blocking
  /// one, not before its end.
  std::uint32_t mark_end(std::uint32_t stream, unsigned device = 0);

  /// Whose wait it is: one of a call of the program's takes the caller time to return.
  enum class Waiter : std::uint8_t { kProgram, kRuntime };
  // The host waits; where no command or event was put in since it last did so, nothing is written.
  void wait_all(unsigned device = 0, Waiter waiter = Waiter::kProgram);  // that the device has
  void wait_stream(std::uint32_t stream, Waiter waiter = Waiter::kProgram);
  void wait_event(std::uint32_t event, Waiter waiter = Waiter::kProgram);

  /// A command after which the host's time may be another.
  [[nodiscard]] static bool is_host_wait(const trace::Command& command) {
    using Kind = trace::Command::Kind;
    return command.kind == Kind::kWait || command.kind == Kind::kEventWait ||
           (command.kind == Kind::kHostCall && command.call == trace::Command::Call::kReturn);
  }

 private:
  void push(const trace::Command& command);
  struct Device {
    std::set<std::uint32_t>
        unseen;                 // blocking streams with commands that its default stream has not waited for
    bool idle = true;           // no command since the host waited for all
    std::uint64_t holds = 0;    // calls of hold_device()
    std::uint32_t held_by = 0;  // event behind the last one's stream, where there was one
  };
  struct Stream {
    unsigned device = 0;
    std::uint64_t commands = 0;                // put in so far
    std::uint64_t marked = ~std::uint64_t{0};  // of these: before event `mark`, where there is one
    std::uint32_t mark = 0;
    std::uint64_t default_seen = 0;  // commands of the default stream that it comes after
    std::uint64_t waited = 0;        // commands that the host has waited for
    std::uint64_t gathered = 0;      // that the device's wait_for_device() has waited for
    std::uint64_t holds = 0;         // of the device, that it comes after
    std::uint32_t recorded = 0;      // the program's last event in it,
    bool recorded_waits = false;     // for which the host has not waited
  };
  [[nodiscard]] bool is_default(std::uint32_t stream) const { return stream < devices_.size(); }

  void wait_for_blocking(std::uint32_t number);
  /// An event behind all work of the stream.
  std::uint32_t mark(std::uint32_t stream);
  std::uint32_t put_event(std::uint32_t stream, trace::Command::Timestamp timestamp);
  [[nodiscard]] bool is_idle(unsigned device) const;
  [[nodiscard]] std::uint32_t number_of(HostThread thread);
  void call(trace::Command::Call call, unsigned device);
  void end_wait(const trace::Command& wait, Waiter waiter);

  std::vector<trace::Command> commands_;
  std::map<HostThread, std::uint32_t> threads_{{0, 0}};  // their numbers
  std::uint32_t caller_ = 0;
  trace::Command last_wait_;          // of the host
  std::size_t behind_last_wait_ = 0;  // index of what follows it; 0: there was none
  std::map<std::uint32_t, Stream> streams_;
  std::vector<Device> devices_;
  std::vector<std::uint32_t> events_;  // by number: the stream that recorded it
};

}  // namespace lockstep::cuda
