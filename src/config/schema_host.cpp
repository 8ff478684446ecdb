// Rows of the groups launch and host.
#include "config/schema.hpp"

namespace lockstep::config {
namespace {

constexpr std::string_view kCopyModes[] = {"blocking", "overlapped"};
constexpr std::string_view kCacheControls[] = {"none", "all"};

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
  using L = LaunchGroup;
  using H = HostGroup;
  return {
      integer("launch.latency_ns", M::kNanoseconds, 0, 10000000,
              "launch floor of a kernel: launch_cycles of the statistics", launch<&L::latency_ns>()),
      integer(
          "launch.graph_node_ns", M::kNanoseconds, 0, 10000000,
          "launch floor of a kernel that a graph's launch starts behind the graph's first node; never more "
          "than launch.latency_ns",
          launch<&L::graph_node_ns>()),
      integer("launch.call_ns", M::kNanoseconds, 0, 10000000,
              "what a call that launches a kernel or a graph takes its host thread: the kernel starts after "
              "it, and so does the thread's next call; of programs (traces that say which thread calls)",
              launch<&L::call_ns>()),
      integer("launch.wait_ns", M::kNanoseconds, 0, 10000000,
              "from the end of what a synchronising call waits for to the thread's next call; of programs",
              launch<&L::wait_ns>()),
      integer("launch.dispatch_interval_milli", M::kMilliCoreCycles, 1, 1000000,
              "between two CTA dispatches of the GPU, in 1/1000 core cycle",
              launch<&L::dispatch_interval_milli>()),
      integer("launch.cta_latency_ps", M::kPicoseconds, 1000, 100000000,
              "CTA dispatcher to SM; a window is at most half of it", launch<&L::cta_latency_ps>()),
      integer("launch.done_latency_ps", M::kPicoseconds, 1000, 100000000,
              "end of a CTA in its SM to the dispatcher", launch<&L::done_latency_ps>()),
      integer("launch.warp_interval_milli", M::kMilliCoreCycles, 1, 1000000,
              "between two warps of a CTA becoming active in an SM", launch<&L::warp_interval_milli>()),
      integer("launch.max_kernels", M::kNone, 1, 128, "kernels that may run at once",
              launch<&L::max_kernels>()),
      choice("launch.cache_control", kCacheControls,
             "all: kernels run one after the other, each with empty caches, as under a profiler (Nsight "
             "Compute's --cache-control); copies leave nothing in the L2",
             launch<&L::cache_control>()),
      integer("host.bytes_per_second", M::kBytesPerSecond, 1000000, 10000000000000,
              "host link, each direction", host<&H::bytes_per_second>()),
      integer("host.command_latency_ps", M::kPicoseconds, 1000, 1000000000, "host link, command",
              host<&H::command_latency_ps>()),
      integer("host.data_latency_ps", M::kPicoseconds, 1000, 1000000000, "host link, data",
              host<&H::data_latency_ps>()),
      power_of_two("host.page_bytes", M::kBytes, 512, 16777216, "copies move whole pages of this size",
                   host<&H::page_bytes>()),
      choice("host.copy_mode", kCopyModes, "whether kernels of other streams run during a copy",
             host<&H::copy_mode>()),
      integer("host.copy_start_ns", M::kNanoseconds, 0, 10000000,
              "fixed time of the runtime before a copy between host and device is sent; not modelled where "
              "it is 0",
              host<&H::copy_start_ns>()),
      flag("host.warms_l2", "a copy to the device leaves its last lines in the L2", host<&H::warms_l2>()),
  };
}

}  // namespace lockstep::config
