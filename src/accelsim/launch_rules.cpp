// Rules for kernel launch and copies.
#include "accelsim/table.hpp"

namespace lockstep::accelsim {
namespace {

void launch(Context& c) {
  constexpr std::string_view kOption = "-gpgpu_kernel_launch_latency";
  constexpr std::uint64_t kNsKhz = 1'000'000;
  c.set("launch.latency_ns", scaled(c.number(kOption), kNsKhz, c.config().clock.core_khz), {kOption});
}

void cta_launch(Context& c) {
  constexpr std::string_view kOption = "-gpgpu_TB_launch_latency";
  const std::uint64_t cycles = c.number(kOption);
  if (cycles == 0) return c.unused(kOption, "0: no cost of a CTA; the base's dispatch rate stays");
  constexpr std::uint64_t kMaxCycles = 1'000'000;
  if (cycles > kMaxCycles) c.fail(kOption, "expected at most 1000000 cycles");
  c.set("launch.dispatch_interval_milli", cycles * 1000, {kOption});
}

void concurrency(Context& c) {
  constexpr std::string_view kMaxKernels = "-gpgpu_max_concurrent_kernel",
                             kAllowed = "-gpgpu_concurrent_kernel_sm";
  c.set("launch.max_kernels", c.flag(kAllowed) ? c.number(kMaxKernels) : 1, {kAllowed, kMaxKernels});
}

void copies(Context& c) {
  constexpr std::string_view kOption = "-gpgpu_perf_sim_memcpy";
  c.set("host.warms_l2", c.flag(kOption) ? "true" : "false", {kOption});
}

}  // namespace

std::vector<Rule> launch_rules() {
  return {
      {{{"-gpgpu_kernel_launch_latency", "0"}}, "launch.latency_ns", "core cycles in time", launch},
      {{{"-gpgpu_TB_launch_latency", "0"}},
       "launch.dispatch_interval_milli",
       "core cycles of a CTA * 1000; 0 keeps the base's",
       cta_launch},
      {{{"-gpgpu_concurrent_kernel_sm", "0"}, {"-gpgpu_max_concurrent_kernel", "32"}},
       "launch.max_kernels",
       "kernels run one at a time unless -gpgpu_concurrent_kernel_sm 1",
       concurrency},
      {{{"-gpgpu_perf_sim_memcpy", "1"}}, "host.warms_l2", "1 = true", copies},
  };
}

}  // namespace lockstep::accelsim
