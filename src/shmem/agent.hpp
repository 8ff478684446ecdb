// The agent that serves the network queues of kernels: functionally, all of a request at once. In the machine
// it is a command processor or a thread of the host; what it does there, and when, is simulated from the
// commands that it records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/device_memory.hpp"
#include "exec/signal_log.hpp"
#include "lockstep/shmem/layout.h"
#include "shmem/request.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::shmem {

/// One for all devices. The order in which requests are performed depends on the entries alone, and on when
/// it is asked to serve.
class Agent {
 public:
  /// Both must outlive the agent.
  Agent(exec::DeviceMemory& memory, exec::SignalLog& signals) : memory_(memory), signals_(signals) {}

  /// From here on the queues of `world` are served. Throws UserError where it is not as layout.h says, or
  /// another one is attached.
  void attach(const World& world);
  void detach();
  [[nodiscard]] bool attached() const { return !pes_.empty(); }
  /// By device; none: nothing is attached.
  [[nodiscard]] const std::vector<PeMemory>& pes() const { return pes_; }
  /// The commands that a trace needs are kept for take_commands().
  void keep_commands() { keeps_ = true; }

  /// Performs the next entry of each of the device's queues that is ready. True: there was one. Throws
  /// BadEntry. No more than one, so that a work-group whose queue is full sees one entry free, and is
  /// recorded as waiting for each: else it would go on, in simulated time, with entries that are not free
  /// yet.
  bool serve(unsigned device);
  /// What has been attached and performed since the last call, in its order.
  [[nodiscard]] std::vector<trace::Command> take_commands();

  /// What the word at `address` is to kernels, for messages; empty: nothing of the agent's.
  [[nodiscard]] std::string describe(Address address) const;

 private:
  struct Queues {                     // of a device
    std::vector<std::uint32_t> next;  // by queue: entries performed so far, modulo 2^32
    std::uint32_t number = 0;         // in traces: that of the first one
  };
  void check(const World& world) const;
  void check_range(unsigned device, const void* begin, std::uint64_t bytes, const char* what) const;
  [[nodiscard]] Entry& entry(unsigned device, std::uint32_t queue, std::uint32_t index) const;
  [[nodiscard]] bool serve_one(unsigned device, std::uint32_t queue);
  void record_queues(unsigned device);

  exec::DeviceMemory& memory_;
  exec::SignalLog& signals_;
  std::vector<PeMemory> pes_;  // by device; none: nothing is attached
  std::vector<Queues> queues_;
  std::uint32_t depth_ = 0;
  bool keeps_ = false;
  std::vector<trace::Command> commands_;
};

}  // namespace lockstep::shmem
