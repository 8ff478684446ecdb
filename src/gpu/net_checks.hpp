// Checks of a trace's network requests: whether agents can serve them.
#pragma once

#include <cstdint>
#include <vector>

#include "config/system_config.hpp"
#include "net/messages.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::gpu {

/// Command by command, in the trace's order.
class NetChecks {
 public:
  explicit NetChecks(const config::SystemConfig& system)
      : system_(&system), devices_(system.devices.size()) {}

  /// What the agents receive for the command. Throws UserError: a system without NICs, memory that is missing
  /// or too small for the device's command processor, a queue or an operation that does not fit what came
  /// before.
  [[nodiscard]] net::AgentNews news(const trace::Command& command);
  /// What the host receives for a task. Throws UserError: a design whose hosts have none, another process
  /// that is not there.
  [[nodiscard]] net::AgentNews task(const trace::Command& command) const;
  /// Throws UserError where the design has no GPU.
  void check_kernel(const trace::KernelHeader& header) const;

 private:
  struct OfDevice {
    std::uint32_t memories = 0;
    std::uint32_t queues = 0;
  };
  void check_memory(const trace::Command& command) const;
  void check_queue(const trace::Command& command) const;
  void check_operation(const trace::Command& command) const;

  const config::SystemConfig* system_;
  std::vector<OfDevice> devices_;
};

}  // namespace lockstep::gpu
