// Conversions of units: clocks, launch costs and caches, with values by hand.
#include "accelsim/context.hpp"
#include "helpers.hpp"

using namespace lockstep;
using namespace lockstep::accelsim;
using namespace lockstep::accelsim::test;

namespace {

/// The value of a key with these options.
std::string value_with(const std::string& options, const std::string& key) {
  return value_of(resolve(translated(options)), key);
}

/// Why an option has no effect; "" where it has one.
std::string why_ignored(const std::string& options, const std::string& option) {
  for (const Ignored& entry : translated(options).ignored)
    if (entry.option.name == option) return entry.reason;
  return "";
}

std::string at_core_mhz(const std::string& mhz) { return "-gpgpu_clock_domains " + mhz + ":1000:1000:877 "; }

}  // namespace

TEST_CASE("launch latency: core cycles become nanoseconds at the files' core clock, half of one rounds up") {
  const auto ns = [](const std::string& mhz, const std::string& cycles) {
    return value_with(at_core_mhz(mhz) + "-gpgpu_kernel_launch_latency " + cycles, "launch.latency_ns");
  };
  CHECK(ns("1000", "5000") == "5000");
  CHECK(ns("2000", "5000") == "2500");
  CHECK(ns("1132", "5000") == "4417");  // 4416.96
  CHECK(ns("2000", "3") == "2");        // 1.5
  CHECK(ns("1500", "2") == "1");        // 1.33
}

TEST_CASE("concurrent kernels: one at a time unless they are allowed") {
  CHECK(value_with("-gpgpu_max_concurrent_kernel 16", "launch.max_kernels") == "1");
  CHECK(value_with("-gpgpu_concurrent_kernel_sm 1", "launch.max_kernels") == "32");  // Accel-Sim's default
  CHECK(value_with("-gpgpu_concurrent_kernel_sm 0 -gpgpu_max_concurrent_kernel 16", "launch.max_kernels") ==
        "1");
}

TEST_CASE("a launch cost of a CTA of 0 keeps the base's rate, and more than a million cycles are an error") {
  const std::string base = value_with("", "launch.dispatch_interval_milli");
  CHECK(value_with("-gpgpu_TB_launch_latency 0", "launch.dispatch_interval_milli") == base);
  CHECK(why_ignored("-gpgpu_TB_launch_latency 0", "-gpgpu_TB_launch_latency").find("base's dispatch rate") !=
        std::string::npos);
  CHECK(error_of("-gpgpu_TB_launch_latency 1000001").ends_with("expected at most 1000000 cycles"));
}

TEST_CASE("copies warm the L2 where Accel-Sim simulates them") {
  CHECK(value_with("-gpgpu_perf_sim_memcpy 0", "host.warms_l2") == "false");
  CHECK(value_with("-gpgpu_perf_sim_memcpy 1", "host.warms_l2") == "true");
}

TEST_CASE("refresh keeps its time at another DRAM clock") {
  const config::GpuConfig base = config::resolve("v100");
  const std::uint64_t khz = base.clock.dram_khz;
  const auto with_dram = [](const std::string& mhz) {
    return resolve(translated("-gpgpu_clock_domains 1000:1000:1000:" + mhz));
  };
  const auto nanoseconds = [](std::uint64_t cycles, const config::GpuConfig& config) {
    return static_cast<double>(cycles) * 1e6 / static_cast<double>(config.clock.dram_khz);
  };
  for (const char* mhz : {"500", "1754", "3000"}) {
    CAPTURE(mhz);
    const config::GpuConfig other = with_dram(mhz);
    REQUIRE(other.clock.dram_khz != khz);
    const double cycle = 1e6 / static_cast<double>(other.clock.dram_khz);
    CHECK(nanoseconds(other.dram.tREFI, other) ==
          Approx(nanoseconds(base.dram.tREFI, base)).margin(cycle / 2 + 1e-6));
    CHECK(nanoseconds(other.dram.tRFC, other) ==
          Approx(nanoseconds(base.dram.tRFC, base)).margin(cycle / 2 + 1e-6));
  }
}

TEST_CASE("schedulers without a counterpart and caches that are absent keep the base's, and it is said") {
  CHECK(value_with("-gpgpu_scheduler lrr", "sm.scheduler") == "lrr");
  const std::string two_level = "-gpgpu_scheduler two_level_active:6:0:1";
  CHECK(value_with(two_level, "sm.scheduler") == value_with("", "sm.scheduler"));
  CHECK(why_ignored(two_level, "-gpgpu_scheduler").starts_with("only gto and lrr have a counterpart"));
  const std::string none =
      "-gpgpu_perfect_inst_const_cache 0 -gpgpu_const_cache:l1 none -gpgpu_cache:il1 none";
  CHECK(value_with(none, "mio.const_l1_bytes") == value_with("", "mio.const_l1_bytes"));
  CHECK(value_with(none, "frontend.l1i_bytes") == value_with("", "frontend.l1i_bytes"));
  CHECK(why_ignored(none, "-gpgpu_const_cache:l1").find("always has a constant cache") != std::string::npos);
  CHECK(why_ignored(none, "-gpgpu_cache:il1").find("always has an L1 instruction cache") !=
        std::string::npos);
}

TEST_CASE("a constant cache counts up to 1 MiB, and all constants fit into a perfect one") {
  const std::string option = " -gpgpu_const_cache:l1 N:4096:64:16,L:R:f:N:L,S:2:64,4";  // 4 MiB
  CHECK(value_with("-gpgpu_perfect_inst_const_cache 0" + option, "mio.const_l1_bytes") == "1048576");
  CHECK(value_with("-gpgpu_perfect_inst_const_cache 1", "mio.const_l1_bytes") == "1048576");
}

TEST_CASE("register banks of an SM are divided among its sub-cores, which keep their reads a cycle") {
  const auto reads = [](const std::string& banks, const std::string& ports, const std::string& schedulers) {
    const config::GpuConfig c =
        resolve(translated("-gpgpu_num_reg_banks " + banks + " -gpgpu_reg_file_port_throughput " + ports +
                           " -gpgpu_num_sched_per_core " + schedulers));
    return std::pair(c.rf.banks, c.rf.read_ports);
  };
  CHECK(reads("8", "1", "4") == std::pair(2u, 1u));   // 2 banks of a sub-core, 1 read each
  CHECK(reads("16", "1", "4") == std::pair(2u, 2u));  // 4 banks there: 2 of 2 reads
  CHECK(reads("4", "3", "4") == std::pair(1u, 3u));
  CHECK(reads("2", "2", "4") == std::pair(1u, 2u));    // fewer banks than sub-cores: one each
  CHECK(reads("512", "4", "4") == std::pair(2u, 8u));  // 8 reads of a bank never bind
}

TEST_CASE("threads that fill no whole warp are an error with the place of the option") {
  const std::string error = error_of("\n-gpgpu_shader_core_pipeline 1000:32");
  CHECK(error.find("the threads must be whole warps") != std::string::npos);
  CHECK(error.find("sm.max_threads = 1000 (gpgpusim.config:2)") != std::string::npos);
  CHECK(error.find("sm.max_warps = 32 (gpgpusim.config:2)") != std::string::npos);  // 31.25
}

TEST_CASE("products of large numbers are not cut short") {
  CHECK(scaled(1'000'000'000'000, 1'000'000, 3) == 333'333'333'333'333'333);
  CHECK(scaled(5, 1, 2) == 3);  // half up
  CHECK(scaled(0, 7, 2) == 0);
  CHECK(value_with("-gpgpu_perf_sim_memcpy 1000000000000", "host.warms_l2") == "true");
  CHECK(error_of("-gpgpu_perf_sim_memcpy 1000000000001")
            .ends_with("expected a whole number up to 1000000000000"));
}
