// What a host's calls and tasks take, without what they wait for.
#pragma once

#include <cstdint>

#include "config/system_config.hpp"
#include "net/instruction_costs.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::exporter {

/// In ps, as the simulation has them, apart from its clocks' edges.
class HostTimes {
 public:
  /// `system` must stay.
  explicit HostTimes(const config::SystemConfig& system);
  /// launch.call_ns, launch.wait_ns.
  [[nodiscard]] std::uint64_t call(trace::Command::Call call, std::uint16_t device) const;
  /// Of a device's process, as net::HostProcess says.
  [[nodiscard]] std::uint64_t task(const trace::HostTask& task, std::uint16_t device) const;

 private:
  const config::SystemConfig* system_;
  net::InstructionCosts instructions_;
};

}  // namespace lockstep::exporter
