// Whole runs: SMs, crossbar, L2, DRAM.
#include "end_to_end.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <fstream>
#include <numeric>

namespace lockstep::test {
namespace {

gpu::RunOptions options_for(const char* model) {
  gpu::RunOptions options;
  options.config = config::resolve(model);
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
  for (const stats::CacheCounters& cache : {sm.l1, mem.l2}) {
    CHECK(cache.hits == cache.read_hits + cache.write_hits);
    CHECK(cache.misses == cache.read_misses + cache.write_misses);
    CHECK(cache.read_hits + cache.read_misses <= cache.sectors_read);
    CHECK(cache.write_hits + cache.write_misses <= cache.sectors_written);
  }
}

TEST_CASE("every instruction of the trace is issued once, every cycle accounted for") {
  const char* model = GENERATE("v100", "a100");
  for (const SmallTrace& small : small_traces()) {
    INFO(small.name << " on " << model);
    const OpenTrace trace(small);
    const auto result = gpu::simulate(*trace, options_for(model));
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

/// Each warp of `mixed` stores 4 bytes per lane to local memory and loads them, and ends with a reduction and
/// an atomic of one lane. Lanes lie beside each other: 4 sectors of one line for a whole warp, 2 for a half.
TEST_CASE("accesses of local memory and atomics are counted apart, in the L1 and the L2") {
  const char* model = GENERATE("v100", "a100");
  INFO(model);
  const OpenTrace trace({"mixed", "mixed", {{"ctas", "4"}}});
  for (const auto& kernel : gpu::simulate(*trace, options_for(model)).report.kernels) {
    INFO(kernel.name);
    const std::uint64_t sectors = 4 * (kernel.block.x == 128 ? 4 * 4 : 4 + 4 + 2);
    const stats::LocalCounters &l1 = kernel.counters.sm.l1_local, &l2 = kernel.counters.mem.l2_local;
    CHECK(l1.read_hits + l1.read_merges + l1.read_misses == sectors);
    CHECK(l1.write_hits + l1.write_misses == sectors);
    CHECK(l1.write_line_misses == 4 * kernel.counters.sm.warps / 4);  // the first touch of each warp's line
    CHECK(l2.write_hits + l2.write_misses == sectors);
    CHECK(l2.read_hits + l2.read_merges + l2.read_misses >= l1.read_misses);  // both halves of an A100's L2
    if (std::string(model) == "v100") CHECK(l2.read_hits + l2.read_merges + l2.read_misses == l1.read_misses);
    const auto& mem = kernel.counters.mem;
    CHECK(mem.l2_atomics == kernel.counters.sm.l1_atomic_sectors_sent);
    CHECK(mem.l2_atomics > 0);
    CHECK(mem.l2_atomic_hits + mem.l2_atomic_merges <= mem.l2_atomics);
    CHECK(mem.l2_atomic_hits <= mem.l2.write_hits);
    CHECK(mem.l2_fetch_hits + mem.l2_fetch_merges <= mem.l2_fetches);
    CHECK(mem.l2_fetch_line_misses + l2.read_line_misses <= mem.l2.read_line_misses);
  }
}

TEST_CASE("every request has its reply, and each is counted once") {
  const char* model = GENERATE("v100", "a100");
  for (const SmallTrace& small : small_traces()) {
    INFO(small.name << " on " << model);
    const OpenTrace trace(small);
    const auto report = gpu::simulate(*trace, options_for(model)).report;
    stats::KernelCounters all = report.unattributed;
    for (const auto& kernel : report.kernels) stats::add(all, kernel.counters);
    CHECK(all.icnt.requests == all.mem.l2.requests);
    CHECK(all.icnt.replies >= all.icnt.requests);
    CHECK(all.icnt.replies <= all.icnt.requests * 11 / 10);  // few loads are answered in parts
    CHECK(all.icnt.flits >= all.icnt.requests + all.icnt.replies);
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

/// Two warps that meet at two barriers in opposite order.
const char* const kCrossedBarriers = R"(-kernel name = crossed
-kernel id = 1
-grid dim = (1,1,1)
-block dim = (64,1,1)
-shmem = 0
-nregs = 16
-binary version = 70
-cuda stream id = 0
-shmem base_addr = 0x00007f7e00000000
-local mem base_addr = 0x00007f7dfe000000
-nvbit version = 1.7.1
-accelsim tracer version = 5
-enable lineinfo = 0

#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate

#BEGIN_TB

thread block = 0,0,0

warp = 0
insts = 3
0000 ffffffff 0 BAR.SYNC 0 0 1
0010 ffffffff 0 BAR.SYNC 0 0 2
0020 ffffffff 0 EXIT 0 0 0

warp = 1
insts = 3
0030 ffffffff 0 BAR.SYNC 0 0 2
0040 ffffffff 0 BAR.SYNC 0 0 1
0050 ffffffff 0 EXIT 0 0 0

#END_TB
)";

TEST_CASE("a barrier that never completes is a deadlock with a dump, not a hang") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "kernel-1.traceg") << kCrossedBarriers;
  std::ofstream(folder.path() / "kernelslist.g") << "kernel-1.traceg\n";
  const auto trace = trace::open_trace(folder.path().string());
  const bool skip = GENERATE(true, false);
  auto options = options_for("v100");
  options.config.gpu.sms = 4;
  options.config.gpu.gpcs = 2;
  options.config.l2.partitions = 2;
  options.skip = skip;
  const auto result = gpu::simulate(*trace, options);
  CHECK(result.outcome == gpu::Outcome::kDeadlock);
  CHECK(result.report.partial_reason == "deadlock");
  REQUIRE(result.report.kernels.size() == 1);
  CHECK(result.report.kernels[0].partial);
  CHECK(result.report.kernels[0].counters.sm.warp_instructions == 2);
  CHECK_THAT(result.dump, Catch::Contains("crossed") && Catch::Contains("barrier"));
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
