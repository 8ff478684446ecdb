// Whole runs: SMs, crossbar, L2, DRAM.
#include "end_to_end.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <numeric>

namespace lockstep::test {
namespace {

gpu::RunOptions options_for(const char* product) {
  gpu::RunOptions options;
  options.config = config::resolve(product);
  return options;
}

void check_kernel(const stats::KernelResult& kernel, const InstructionCount& expected) {
  INFO(kernel.name);
  const stats::SmCounters& sm = kernel.counters.sm;
  const stats::PartitionCounters& mem = kernel.counters.mem;
  CHECK(sm.warp_instructions == expected.warp);
  CHECK(sm.thread_instructions == expected.thread);
  CHECK(sm.ctas == kernel.grid.count());
  CHECK(sm.warps == expected.warps);
  // Every sub-core cycle has one reason, and each issued instruction is one of them.
  CHECK(std::accumulate(sm.stalls.begin(), sm.stalls.end(), std::uint64_t{0}) ==
        kernel.cycles * kernel.subcores);
  CHECK(sm.stalls[static_cast<unsigned>(stats::Stall::kIssued)] == expected.warp);
  CHECK(sm.l1.accesses == sm.l1.hits + sm.l1.misses + sm.l1.mshr_merges);
  CHECK(sm.l1.accesses == sm.l1.sectors_read + sm.l1.sectors_written);
  CHECK(mem.l2.accesses == mem.l2.hits + mem.l2.misses + mem.l2.mshr_merges);
  CHECK(mem.l2.accesses == mem.l2.sectors_read + mem.l2.sectors_written);
}

TEST_CASE("every instruction of the trace is issued once, every cycle accounted for") {
  const char* product = GENERATE("v100", "a100");
  for (const SmallTrace& small : small_traces()) {
    INFO(small.name << " on " << product);
    const OpenTrace trace(small);
    const auto result = gpu::simulate(*trace, options_for(product));
    REQUIRE(result.outcome == gpu::Outcome::kDone);
    const auto& kernels = result.report.kernels;
    REQUIRE(kernels.size() == trace->kernels().size());
    for (std::uint32_t k = 0; k < trace->kernels().size(); ++k) {
      const auto found = std::find_if(kernels.begin(), kernels.end(),
                                      [&](const auto& r) { return r.id == trace->kernels()[k].id; });
      REQUIRE(found != kernels.end());
      check_kernel(*found, count_instructions(*trace, k));
    }
  }
}

TEST_CASE("memory that is read once comes from DRAM once") {
  // Vector addition: two arrays of 40 * 256 floats read, one written; nothing copied to the device before.
  const OpenTrace trace({"streaming", "streaming", {{"ctas", "40"}}});
  auto options = options_for("v100");
  options.config.host.warms_l2 = false;
  const auto report = gpu::simulate(*trace, options).report;
  REQUIRE(report.kernels.size() == 1);
  const auto& c = report.kernels[0].counters;
  const std::uint64_t array_sectors = 40 * 256 * 4 / kSectorBytes;
  CHECK(c.sm.l1.sectors_read == 2 * array_sectors);
  CHECK(c.sm.l1.sectors_written == array_sectors);
  CHECK(c.mem.l2.sectors_written == array_sectors);
  CHECK(c.mem.l2.sectors_read >= 2 * array_sectors);  // and instructions
  CHECK(c.mem.dram_reads * options.config.dram.burst_bytes >= 2 * array_sectors * kSectorBytes);
}

TEST_CASE("a faster core clock makes a chain of arithmetic faster in time, not in cycles") {
  const OpenTrace trace({"chain", "chain", {{"iterations", "20"}}});
  auto options = options_for("v100");
  const auto slow = gpu::simulate(*trace, options).report.kernels.at(0);
  options.config.clock.core_khz *= 2;
  options.config.clock.icnt_khz *= 2;
  options.config.clock.l2_khz *= 2;
  const auto fast = gpu::simulate(*trace, options).report.kernels.at(0);
  CHECK(static_cast<double>(fast.cycles) > 0.9 * static_cast<double>(slow.cycles));
  CHECK(static_cast<double>(fast.cycles) < 1.5 * static_cast<double>(slow.cycles));
}

}  // namespace
}  // namespace lockstep::test
