#include "export/host_times.hpp"

#include "net/host_process.hpp"
#include "util/types.hpp"

namespace lockstep::exporter {
namespace {

constexpr std::uint64_t kPsKhz = 1'000'000'000;  // a clock whose cycles are ps

}  // namespace

HostTimes::HostTimes(const config::SystemConfig& system)
    : system_(&system),
      instructions_(net::Clock(kPsKhz), system.network.host_process.khz,
                    system.network.host_process.milli_ipc) {}

std::uint64_t HostTimes::call(trace::Command::Call call, std::uint16_t device) const {
  const config::LaunchGroup& launch = system_->devices.at(device).launch;
  switch (call) {
    case trace::Command::Call::kNothing:
      return 0;
    case trace::Command::Call::kLaunch:
      return launch.call_ns * kPsOfNs;
    case trace::Command::Call::kReturn:
      return launch.wait_ns * kPsOfNs;
  }
  return 0;
}

std::uint64_t HostTimes::task(const trace::HostTask& task, std::uint16_t device) const {
  using Kind = trace::HostTask::Kind;
  if (task.kind == Kind::kCompute) return net::compute_ps(system_->network.host_process, task);
  if (task.kind == Kind::kCall) return call(static_cast<trace::Command::Call>(task.instructions), device);
  if (task.kind == Kind::kElapse) return task.bytes;
  if (!task.within) return system_->network.host_process.call_ps;
  const config::ServiceGroup& service = system_->network.service;
  return instructions_.cycles(trace::moves_data(task.kind) ? service.issue_instructions
                                                           : service.complete_instructions);
}

}  // namespace lockstep::exporter
