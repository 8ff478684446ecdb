// --accelsim-stats: hand-made reports, text worked out by hand, and docs/accelsim.md.
#include <map>
#include <regex>

#include "accelsim/stats_text.hpp"
#include "helpers.hpp"
#include "paths.hpp"

using namespace lockstep;
using namespace lockstep::accelsim;
using namespace lockstep::accelsim::test;

namespace {

stats::KernelResult first_kernel() {
  stats::KernelResult k;
  k.name = "_Z9vectoraddPfS_S_i";
  k.id = 1;
  k.stream = 7;
  k.launch_cycles = 5000;
  k.cycles = 1204;
  auto& c = k.counters;
  c.sm.thread_instructions = 801056;
  c.sm.warp_instructions = 26601;
  c.sm.ctas = 196;
  c.sm.l1 = {.accesses = 18750,
             .hits = 10000,
             .misses = 8000,
             .mshr_merges = 750,
             .sectors_read = 12500,
             .sectors_written = 6250,
             .requests = 4688,
             .read_hits = 9800,
             .write_hits = 200,
             .read_misses = 1950,
             .write_misses = 6050,
             .read_line_misses = 500,
             .write_line_misses = 1600};
  c.sm.l1_load_sectors_sent = 7000;
  c.sm.l1_store_sectors_sent = 6200;
  c.sm.shared_instructions = 100;
  c.sm.shared_wavefronts = 340;
  c.sm.l1i_accesses = 900;
  c.sm.l1i_misses = 30;
  c.sm.rf_conflict_cycles = 77;
  c.sm.warp_cycles = 30000;
  c.sm.stalls[static_cast<unsigned>(stats::Stall::kIssued)] = 4000;
  c.sm.stalls[static_cast<unsigned>(stats::Stall::kLongScoreboard)] = 1000;
  c.sm.stalls[static_cast<unsigned>(stats::Stall::kEmpty)] = 9000;
  c.mem.l2 = {.accesses = 13250,
              .hits = 1000,
              .misses = 12000,
              .mshr_merges = 250,
              .sectors_read = 7000,
              .sectors_written = 6250,
              .requests = 5000,
              .read_hits = 900,
              .write_hits = 100,
              .read_misses = 5850,
              .write_misses = 6150,
              .read_line_misses = 1700,
              .write_line_misses = 1800};
  c.mem.l2_fetches = c.mem.l2_fetch_hits = 60;
  c.mem.dram_reads = 6000;  // bursts of 64 bytes
  c.mem.dram_writes = 50;
  c.mem.dram_bytes = 6050 * 64;
  c.mem.dram_activates = 400;
  c.icnt.requests = 4000;
  c.icnt.replies = 5000;
  return k;
}

stats::RunReport report_of(std::vector<stats::KernelResult> kernels) {
  stats::RunReport report;
  report.core_khz = 1'000'000;
  report.kernels = std::move(kernels);
  return report;
}

// gpu_ipc = 801056 / 6204 = 129.11928; gpu_occupancy = 30000 / (5000 * 16) = 37.5 %; L2_BW = 13250 * 32 bytes
// in 6204 ns = 68.343 GB/s; 6050 bursts / 400 activates; bursts of 64 bytes are two accesses of 32.
constexpr const char* kFirst =
    "kernel_name = _Z9vectoraddPfS_S_i\n"
    "kernel_launch_uid = 1 \n"
    "kernel_stream_id = 7\n"
    "gpu_sim_cycle = 6204\n"
    "gpu_sim_insn = 801056\n"
    "gpu_ipc =     129.1193\n"
    "gpu_tot_sim_cycle = 6204\n"
    "gpu_tot_sim_insn = 801056\n"
    "gpu_tot_ipc =     129.1193\n"
    "gpu_tot_issued_cta = 196\n"
    "gpu_occupancy = 37.5000% \n"
    "gpu_tot_occupancy = 37.5000% \n"
    "L2_BW  =      68.3430 GB/Sec\n"
    "L2_BW_total  =      68.3430 GB/Sec\n"
    "\n========= Core cache stats =========\n"
    "L1I_cache:\n"
    "\tL1I_total_cache_accesses = 900\n"
    "\tL1I_total_cache_misses = 30\n"
    "\tL1I_total_cache_miss_rate = 0.0333\n"
    "L1D_cache:\n"
    "\tL1D_total_cache_accesses = 18750\n"
    "\tL1D_total_cache_misses = 8000\n"
    "\tL1D_total_cache_miss_rate = 0.4267\n"
    "\tL1D_total_cache_pending_hits = 750\n"
    "\nTotal_core_cache_stats:\n"
    "\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][HIT] = 9800\n"
    "\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][HIT_RESERVED] = 750\n"
    "\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][MISS] = 500\n"
    "\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][SECTOR_MISS] = 1450\n"
    "\tTotal_core_cache_stats_breakdown[LOCAL_ACC_R][HIT] = 0\n"
    "\tTotal_core_cache_stats_breakdown[LOCAL_ACC_R][HIT_RESERVED] = 0\n"
    "\tTotal_core_cache_stats_breakdown[LOCAL_ACC_R][MISS] = 0\n"
    "\tTotal_core_cache_stats_breakdown[LOCAL_ACC_R][SECTOR_MISS] = 0\n"
    "\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_W][HIT] = 200\n"
    "\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_W][MISS] = 1600\n"
    "\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_W][SECTOR_MISS] = 4450\n"
    "\tTotal_core_cache_stats_breakdown[LOCAL_ACC_W][HIT] = 0\n"
    "\tTotal_core_cache_stats_breakdown[LOCAL_ACC_W][MISS] = 0\n"
    "\tTotal_core_cache_stats_breakdown[LOCAL_ACC_W][SECTOR_MISS] = 0\n"
    "\tTotal_core_cache_stats_breakdown[INST_ACC_R][HIT] = 870\n"
    "\tTotal_core_cache_stats_breakdown[INST_ACC_R][MISS] = 30\n"
    "\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][TOTAL_ACCESS] = 12500\n"
    "\tTotal_core_cache_stats_breakdown[LOCAL_ACC_R][TOTAL_ACCESS] = 0\n"
    "\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_W][TOTAL_ACCESS] = 6250\n"
    "\tTotal_core_cache_stats_breakdown[LOCAL_ACC_W][TOTAL_ACCESS] = 0\n"
    "\tTotal_core_cache_stats_breakdown[INST_ACC_R][TOTAL_ACCESS] = 900\n"
    "\n"
    "gpgpu_n_tot_thrd_icount = 801056\n"
    "gpgpu_n_tot_w_icount = 26601\n"
    "gpgpu_n_mem_read_local = 0\n"
    "gpgpu_n_mem_write_local = 0\n"
    "gpgpu_n_mem_read_global = 7000\n"
    "gpgpu_n_mem_write_global = 6200\n"
    "gpgpu_n_shmem_bkconflict = 240\n"
    "gpgpu_stall_shd_mem[s_mem][bk_conf] = 240\n"
    "gpu_reg_bank_conflict_stalls = 77\n"
    "average row locality = 6050/400 = 15.125000\n"
    "total dram reads = 12000\n"
    "total dram writes = 100\n"
    "\n========= L2 cache stats =========\n"
    "L2_total_cache_accesses = 13250\n"
    "L2_total_cache_misses = 12000\n"
    "L2_total_cache_miss_rate = 0.9057\n"
    "L2_total_cache_pending_hits = 250\n"
    "L2_total_cache_breakdown:\n"
    "\tL2_cache_stats_breakdown[GLOBAL_ACC_R][HIT] = 840\n"
    "\tL2_cache_stats_breakdown[GLOBAL_ACC_R][HIT_RESERVED] = 250\n"
    "\tL2_cache_stats_breakdown[GLOBAL_ACC_R][MISS] = 1700\n"
    "\tL2_cache_stats_breakdown[GLOBAL_ACC_R][SECTOR_MISS] = 4150\n"
    "\tL2_cache_stats_breakdown[LOCAL_ACC_R][HIT] = 0\n"
    "\tL2_cache_stats_breakdown[LOCAL_ACC_R][HIT_RESERVED] = 0\n"
    "\tL2_cache_stats_breakdown[LOCAL_ACC_R][MISS] = 0\n"
    "\tL2_cache_stats_breakdown[LOCAL_ACC_R][SECTOR_MISS] = 0\n"
    "\tL2_cache_stats_breakdown[GLOBAL_ACC_W][HIT] = 100\n"
    "\tL2_cache_stats_breakdown[GLOBAL_ACC_W][MISS] = 1800\n"
    "\tL2_cache_stats_breakdown[GLOBAL_ACC_W][SECTOR_MISS] = 4350\n"
    "\tL2_cache_stats_breakdown[LOCAL_ACC_W][HIT] = 0\n"
    "\tL2_cache_stats_breakdown[LOCAL_ACC_W][MISS] = 0\n"
    "\tL2_cache_stats_breakdown[LOCAL_ACC_W][SECTOR_MISS] = 0\n"
    "\tL2_cache_stats_breakdown[GLOBAL_ACC_R][TOTAL_ACCESS] = 7000\n"
    "\tL2_cache_stats_breakdown[LOCAL_ACC_R][TOTAL_ACCESS] = 0\n"
    "\tL2_cache_stats_breakdown[GLOBAL_ACC_W][TOTAL_ACCESS] = 6200\n"
    "\tL2_cache_stats_breakdown[LOCAL_ACC_W][TOTAL_ACCESS] = 0\n"
    "\n"
    "icnt_total_pkts_mem_to_simt=5000\n"
    "icnt_total_pkts_simt_to_mem=4000\n"
    "Req_Network_injected_packets_num = 4000\n"
    "Reply_Network_injected_packets_num = 5000\n"
    "\n";

std::vector<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i) found.push_back((*i)[1]);
  return found;
}

}  // namespace

TEST_CASE("the block of one kernel, and the end of a whole run") {
  CHECK(accelsim_text(report_of({first_kernel()}), {.warps_per_subcore = 16}) ==
        std::string(kFirst) +
            "GPGPU-Sim: *** simulation thread exiting ***\nGPGPU-Sim: *** exit detected ***\n");
}

TEST_CASE("figures of one kernel and figures that run on") {
  stats::KernelResult second = first_kernel();
  second.id = 2;
  second.cycles = 5000;
  second.counters.sm.thread_instructions = 100000;
  second.counters.mem.dram_reads = 1000;
  second.counters.mem.dram_writes = 0;
  second.counters.mem.dram_bytes = 64000;
  const std::string text = accelsim_text(report_of({first_kernel(), second}));
  using Texts = std::vector<std::string>;
  // The patterns of its get_stats.py.
  CHECK((all_matches(text, R"(gpu_sim_cycle\s*=\s*(.*))") == Texts{"6204", "10000"}));
  CHECK((all_matches(text, R"(gpu_tot_sim_cycle\s*=\s*(.*))") == Texts{"6204", "16204"}));
  CHECK((all_matches(text, R"(gpu_sim_insn\s*=\s*(.*))") == Texts{"801056", "100000"}));
  CHECK((all_matches(text, R"(gpu_tot_sim_insn\s*=\s*(.*))") == Texts{"801056", "901056"}));
  CHECK((all_matches(text, R"(gpu_ipc\s*=\s*(.*))") == Texts{"129.1193", "10.0000"}));
  CHECK((all_matches(text, R"(total dram reads\s*=\s*(.*))") == Texts{"12000", "14000"}));
  CHECK((all_matches(text, R"(total dram writes\s*=\s*(.*))") == Texts{"100", "100"}));
  CHECK((all_matches(text,
                     R"(\s+Total_core_cache_stats_breakdown\[GLOBAL_ACC_R\]\[TOTAL_ACCESS\]\s*=\s*(.*))") ==
         Texts{"12500", "25000"}));
  CHECK((all_matches(text, R"(L2_BW\s*=\s*(.*)GB\/Sec)") == Texts{"68.3430 ", "42.4000 "}));
  CHECK((all_matches(text, R"(kernel_launch_uid\s*=\s*(\d+))") == Texts{"1", "2"}));
}

TEST_CASE("what we do not have is absent, never zero") {
  stats::KernelResult none = first_kernel();
  none.counters.mem.dram_activates = 0;
  const std::string text = accelsim_text(report_of({none}));
  for (const char* name : {"gpu_occupancy", "average row locality", "reservation_fail", "gpgpu_simulation",
                           "sim_rate", "nan", "inf"}) {
    INFO(name);
    CHECK(text.find(name) == std::string::npos);
  }
}

namespace {

void check_lines(const stats::KernelResult& kernel, std::initializer_list<const char*> lines) {
  const std::string text = accelsim_text(report_of({kernel}));
  for (const char* line : lines) {
    INFO(line);
    CHECK(text.find(line + std::string("\n")) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("local memory has lines of its own, and global memory what is left") {
  stats::KernelResult local = first_kernel();
  local.counters.sm.l1_local = {100, 50, 40, 10, 20, 30, 15};
  local.counters.mem.l2_local = {25, 5, 10, 4, 18, 32, 16};
  check_lines(local, {"L1D_total_cache_accesses = 18750",
                      "core_cache_stats_breakdown[GLOBAL_ACC_R][HIT] = 9700",
                      "core_cache_stats_breakdown[GLOBAL_ACC_R][HIT_RESERVED] = 700",
                      "core_cache_stats_breakdown[GLOBAL_ACC_R][MISS] = 490",
                      "core_cache_stats_breakdown[GLOBAL_ACC_R][SECTOR_MISS] = 1420",
                      "core_cache_stats_breakdown[GLOBAL_ACC_R][TOTAL_ACCESS] = 12310",
                      "core_cache_stats_breakdown[LOCAL_ACC_R][HIT] = 100",
                      "core_cache_stats_breakdown[LOCAL_ACC_R][HIT_RESERVED] = 50",
                      "core_cache_stats_breakdown[LOCAL_ACC_R][MISS] = 10",
                      "core_cache_stats_breakdown[LOCAL_ACC_R][SECTOR_MISS] = 30",
                      "core_cache_stats_breakdown[LOCAL_ACC_R][TOTAL_ACCESS] = 190",
                      "core_cache_stats_breakdown[GLOBAL_ACC_W][HIT] = 180",
                      "core_cache_stats_breakdown[GLOBAL_ACC_W][TOTAL_ACCESS] = 6200",
                      "core_cache_stats_breakdown[LOCAL_ACC_W][SECTOR_MISS] = 15",
                      "gpgpu_n_mem_read_local = 40",
                      "gpgpu_n_mem_write_local = 50",
                      "gpgpu_n_mem_read_global = 6960",
                      "gpgpu_n_mem_write_global = 6150",
                      "L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT] = 815",
                      "L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT_RESERVED] = 245",
                      "L2_cache_stats_breakdown[GLOBAL_ACC_W][MISS] = 1784",
                      "L2_cache_stats_breakdown[LOCAL_ACC_R][HIT] = 25",
                      "L2_cache_stats_breakdown[LOCAL_ACC_W][SECTOR_MISS] = 16",
                      "L2_cache_stats_breakdown[LOCAL_ACC_R][TOTAL_ACCESS] = 40"});
}

TEST_CASE("atomics: none of the L1's accesses, reads of the L2") {
  stats::KernelResult atomics = first_kernel();
  atomics.counters.sm.l1_atomic_sectors_sent = 50;
  atomics.counters.sm.l1_atomic_line_misses = 12;
  atomics.counters.mem.l2_atomics = 50;
  atomics.counters.mem.l2_atomic_hits = 30;
  atomics.counters.mem.l2_atomic_line_misses = 7;
  check_lines(atomics, {"L1D_total_cache_accesses = 18700", "L1D_total_cache_misses = 7950",
                        "L1D_total_cache_miss_rate = 0.4251",
                        "core_cache_stats_breakdown[GLOBAL_ACC_R][TOTAL_ACCESS] = 12500",
                        "core_cache_stats_breakdown[GLOBAL_ACC_R][MISS] = 500",
                        "core_cache_stats_breakdown[GLOBAL_ACC_W][HIT] = 200",
                        "core_cache_stats_breakdown[GLOBAL_ACC_W][MISS] = 1588",
                        "core_cache_stats_breakdown[GLOBAL_ACC_W][TOTAL_ACCESS] = 6200",
                        "gpgpu_n_mem_read_global = 7050", "L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT] = 870",
                        "L2_cache_stats_breakdown[GLOBAL_ACC_R][MISS] = 1707",
                        "L2_cache_stats_breakdown[GLOBAL_ACC_W][HIT] = 70",
                        "L2_cache_stats_breakdown[GLOBAL_ACC_W][MISS] = 1793",
                        "L2_cache_stats_breakdown[GLOBAL_ACC_R][TOTAL_ACCESS] = 7050"});
}

TEST_CASE("fetches of instructions and constants are not among the loads") {
  stats::KernelResult cold = first_kernel();
  cold.counters.mem.l2_fetch_hits = 50;
  cold.counters.mem.l2_fetch_merges = 4;  // and 6 misses
  cold.counters.mem.l2_fetch_line_misses = 2;
  check_lines(cold, {"L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT] = 850",
                     "L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT_RESERVED] = 246",
                     "L2_cache_stats_breakdown[GLOBAL_ACC_R][MISS] = 1698",
                     "L2_cache_stats_breakdown[GLOBAL_ACC_R][SECTOR_MISS] = 4146",
                     "L2_cache_stats_breakdown[GLOBAL_ACC_W][MISS] = 1800"});
}

TEST_CASE("no kernel and an empty kernel") {
  CHECK(accelsim_text(report_of({})) == StatsText::end());
  const std::string text = accelsim_text(report_of({stats::KernelResult{}}));
  CHECK(text.find("gpu_sim_cycle = 0\n") != std::string::npos);
  CHECK(text.find("gpu_ipc") == std::string::npos);
  CHECK(text.find("miss_rate") == std::string::npos);
}

TEST_CASE("a run that broke off: finished kernels only, and no end") {
  stats::RunReport report = report_of({first_kernel(), first_kernel()});
  report.kernels[1].partial = true;
  report.partial = true;
  CHECK(accelsim_text(report, {.warps_per_subcore = 16}) == kFirst);
}

TEST_CASE("lines on speed, from the wall time") {
  StatsText text(1'000'000, {});
  const std::string block = text.kernel(first_kernel(), 90061.5);  // a day, an hour, a minute and a second
  CHECK(block.find("gpu_total_sim_rate=8\n") != std::string::npos);
  CHECK(block.find("gpgpu_simulation_time = 1 days, 1 hrs, 1 min, 1 sec (90061 sec)\n") != std::string::npos);
  CHECK(block.find("gpgpu_simulation_rate = 8 (inst/sec)\n") != std::string::npos);
  CHECK(block.find("gpgpu_simulation_rate = 0 (cycle/sec)\n") != std::string::npos);
  CHECK(block.find("slowdown") == std::string::npos);
  StatsText quick(1'000'000, {});
  CHECK(quick.kernel(first_kernel(), 0.2).find("gpgpu_silicon_slowdown = 161186x\n") != std::string::npos);
}

TEST_CASE("a kernel's name cannot forge lines") {
  stats::KernelResult k = first_kernel();
  k.name = "evil\ngpu_sim_cycle = 1";
  CHECK(accelsim_text(report_of({k})).starts_with("kernel_name = evil?gpu_sim_cycle = 1\n"));
}

TEST_CASE("docs/accelsim.md is the generated text") {
  INFO("regenerate with: lockstep config --accelsim-markdown > docs/accelsim.md");
  CHECK((slurp(std::string(LOCKSTEP_SOURCE_DIR) + "/docs/accelsim.md") == markdown()));
}
