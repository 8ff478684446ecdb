// The host of a program as a stream of its device, for traces of several programs: a trace has one host,
// which must not wait on behalf of one program.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

/// Appends a program's commands, with events in place of the host's waits: the host's stream waits for what
/// the host waits for, and other streams wait for the host's stream before what it issues next.
class HostStream {
 public:
  static constexpr std::uint64_t kStream = std::numeric_limits<std::uint64_t>::max();

  /// `events`: number of events that the commands in `out` record.
  HostStream(std::uint16_t device, std::vector<Command>& out, std::uint32_t& events)
      : device_(device), out_(&out), events_(&events) {}

  /// A command in its stream, which begins when the host has reached it.
  void issue(const Command& command);
  /// The stream's next command, which the caller appends, comes after what the host has done.
  void enter(std::uint64_t stream);
  /// A command that the host executes itself, before all that it does later.
  void add_own(Command command);
  /// The host waits for everything that was issued so far.
  void wait_for_all();
  /// The host waits for an event.
  void wait_for(std::uint32_t event);
  /// The caller has appended a command to the host's stream, for which the host waits.
  void moved();
  /// The number of an event that is recorded in the stream, after enter().
  std::uint32_t record(std::uint64_t stream, Command::Timestamp timestamp = Command::Timestamp::kNone);
  /// The host reads its clock.
  void read_clock() { (void)record(kStream, Command::Timestamp::kClock); }
  /// The command as it is, not ordered with the host.
  void push(Command command);

 private:
  void stream_wait(std::uint64_t stream, std::uint32_t event);

  std::uint16_t device_;
  std::vector<Command>* out_;
  std::uint32_t* events_;
  std::set<std::uint64_t> used_;                     // streams with work since the host waited for all
  std::map<std::uint64_t, std::uint64_t> followed_;  // by stream: what the host had done when it last waited
  std::uint64_t version_ = 0;                        // what the host has done
  std::optional<std::uint32_t> host_event_;          // after the last of that
};

}  // namespace lockstep::trace
