// Rows of the groups launch and host.
#include "config/schema.hpp"

namespace lockstep::config {
namespace {

constexpr std::string_view kCopyModes[] = {"blocking", "overlapped"};

template <auto Field>
Binding launch() {
  return number<&GpuConfig::launch, Field>();
}
template <auto Field>
Binding host() {
  return number<&GpuConfig::host, Field>();
}

}  // namespace

Rows host_rows() {
  using M = Measure;
  constexpr Type kInt = Type::kInteger;
  using L = LaunchGroup;
  using H = HostGroup;
  return {
      {"launch.latency_ns",
       kInt,
       M::kNanoseconds,
       0,
       10000000,
       false,
       {},
       "launch floor of a kernel: launch_cycles of the statistics",
       launch<&L::latency_ns>()},
      {"launch.dispatch_interval_milli",
       kInt,
       M::kMilliCoreCycles,
       1,
       1000000,
       false,
       {},
       "between two CTA dispatches of the GPU, in 1/1000 core cycle",
       launch<&L::dispatch_interval_milli>()},
      {"launch.cta_latency",
       kInt,
       M::kCoreCycles,
       2,
       100000,
       false,
       {},
       "CTA dispatcher to SM; at least two windows",
       launch<&L::cta_latency>()},
      {"launch.done_latency",
       kInt,
       M::kCoreCycles,
       1,
       100000,
       false,
       {},
       "end of a CTA in its SM to the dispatcher",
       launch<&L::done_latency>()},
      {"launch.warp_interval",
       kInt,
       M::kCoreCycles,
       1,
       1000,
       false,
       {},
       "between two warps of a CTA becoming active in an SM",
       launch<&L::warp_interval>()},
      {"launch.max_kernels",
       kInt,
       M::kNone,
       1,
       128,
       false,
       {},
       "kernels that may run at once",
       launch<&L::max_kernels>()},
      {"host.bytes_per_second",
       kInt,
       M::kBytesPerSecond,
       1000000,
       10000000000000,
       false,
       {},
       "host link, each direction",
       host<&H::bytes_per_second>()},
      {"host.command_latency_ps",
       kInt,
       M::kPicoseconds,
       1000,
       1000000000,
       false,
       {},
       "host link, command",
       host<&H::command_latency_ps>()},
      {"host.data_latency_ps",
       kInt,
       M::kPicoseconds,
       1000,
       1000000000,
       false,
       {},
       "host link, data",
       host<&H::data_latency_ps>()},
      {"host.page_bytes",
       kInt,
       M::kBytes,
       512,
       16777216,
       true,
       {},
       "copies move whole pages of this size",
       host<&H::page_bytes>()},
      {"host.copy_mode", Type::kEnum, M::kNone, 0, 0, false, kCopyModes,
       "whether kernels of other streams run during a copy", host<&H::copy_mode>()},
      {"host.warms_l2",
       Type::kBool,
       M::kNone,
       0,
       1,
       false,
       {},
       "a copy to the device leaves its last lines in the L2",
       host<&H::warms_l2>()},
  };
}

}  // namespace lockstep::config
