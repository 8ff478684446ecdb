// What the host does for each command of a trace.
#pragma once

#include <optional>

#include "config/gpu_config.hpp"
#include "host/host_queue.hpp"
#include "trace/kernel_trace.hpp"
#include "uvm/managed_command.hpp"

namespace lockstep::gpu {

/// The command to managed memory that a command of the trace stands for; nothing for kManage and for commands
/// that do not concern managed memory.
std::optional<uvm::ManagedCommand> managed_command(const trace::Command& c);
/// kManagedCommand for what has no kind of its own.
host::HostCommand::Kind host_kind(trace::Command::Kind kind);
host::HostCommand to_host_command(const uvm::ManagedCommand& managed);
/// A call of the CUDA runtime, which takes a thread of the host the time that `times` says.
host::HostCommand call_command(const trace::Command& c, const config::LaunchGroup& times);
/// An access of `kind` to the range of `c`.
uvm::ManagedCommand access_command(const trace::Command& c, uvm::ManagedCommand::Kind kind);

}  // namespace lockstep::gpu
