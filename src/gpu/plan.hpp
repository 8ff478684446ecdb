// A trace as the dispatcher takes it: launch plans, host commands, streams.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/dispatcher.hpp"
#include "gpu/managed.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::gpu {

using IdRanges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

struct Plan {
  std::vector<core::LaunchPlan> kernels;    // by index of the trace's kernel
  std::vector<core::HostCommand> commands;  // selected kernels, all copies
  std::uint32_t streams = 0;
  std::uint64_t kernel_commands = 0;
  uvm::AddressSpace managed;         // empty: no managed memory
  std::uint64_t managed_frames = 0;  // pages of the device for it
  std::vector<std::string> remarks;  // sorted: kernels of another architecture
};

/// Throws UserError: a range of ids that names no kernel, a kernel that does not fit an SM.
/// With ManagedOptions::Kind::kCopies copies to and from managed memory are left out: the data are where the
/// host left them.
[[nodiscard]] Plan make_plan(const trace::TraceSet& trace, const config::GpuConfig& config,
                             const IdRanges& selection, const ManagedOptions& managed = {});

}  // namespace lockstep::gpu
