#include "gpu/plan_commands.hpp"

namespace lockstep::gpu {

std::optional<uvm::ManagedCommand> managed_command(const trace::Command& c) {
  using Kind = uvm::ManagedCommand::Kind;
  const auto managed = [&](Kind kind) {
    return uvm::ManagedCommand{kind, static_cast<uvm::Advice>(c.advice), c.host, 0, c.address, c.bytes};
  };
  switch (c.kind) {
    case trace::Command::Kind::kAdvise:
      return managed(Kind::kAdvise);
    case trace::Command::Kind::kPrefetch:
    case trace::Command::Kind::kStreamPrefetch:
      return managed(Kind::kPrefetch);
    case trace::Command::Kind::kHostAccess:
      return managed(c.write ? Kind::kHostWrite : Kind::kHostRead);
    case trace::Command::Kind::kRelease:
      return managed(Kind::kRelease);
    default:
      return std::nullopt;
  }
}

host::HostCommand::Kind host_kind(trace::Command::Kind kind) {
  using From = trace::Command::Kind;
  using To = host::HostCommand::Kind;
  switch (kind) {
    case From::kCopyToDevice:
      return To::kCopyToDevice;
    case From::kCopyToHost:
      return To::kCopyToHost;
    case From::kKernel:
      return To::kKernel;
    case From::kWait:
      return To::kWait;
    case From::kStreamCopyToDevice:
      return To::kStreamCopyToDevice;
    case From::kStreamCopyToHost:
      return To::kStreamCopyToHost;
    case From::kEventRecord:
      return To::kEventRecord;
    case From::kStreamWait:
      return To::kStreamWait;
    case From::kEventWait:
      return To::kEventWait;
    case From::kFill:
      return To::kFill;
    case From::kDeviceCopy:
      return To::kDeviceCopy;
    case From::kPeerCopy:
      return To::kPeerCopy;
    case From::kPlace:
    case From::kMulticast:
    case From::kManage:
    case From::kRelease:
    case From::kAdvise:
    case From::kPrefetch:
    case From::kHostAccess:
    case From::kDeviceAccess:
    case From::kStreamPrefetch:
    case From::kNetMemory:
    case From::kNetQueue:
    case From::kNetOperation:
    case From::kHostCall:
    case From::kHostTask:
      break;
  }
  return To::kManagedCommand;
}

host::HostCommand to_host_command(const uvm::ManagedCommand& managed) {
  host::HostCommand command;
  command.kind = host::HostCommand::Kind::kManagedCommand;
  command.managed = managed;
  return command;
}

host::HostCommand call_command(const trace::Command& c, const config::LaunchGroup& times) {
  host::HostCommand command;
  command.kind = host::HostCommand::Kind::kCall;
  command.thread = c.thread;
  if (c.call == trace::Command::Call::kLaunch) command.busy_ns = times.call_ns;
  if (c.call == trace::Command::Call::kReturn) command.busy_ns = times.wait_ns;
  return command;
}

uvm::ManagedCommand access_command(const trace::Command& c, uvm::ManagedCommand::Kind kind) {
  return {kind, uvm::Advice::kNone, false, 0, c.address, c.bytes};
}

}  // namespace lockstep::gpu
