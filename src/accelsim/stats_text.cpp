#include "accelsim/stats_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "accelsim/accesses.hpp"
#include "stats/text.hpp"
#include "util/types.hpp"

namespace lockstep::accelsim {
namespace {

using stats::fixed_ratio;
using stats::KernelCounters;
using Value = std::optional<std::string>;

/// A kernel and the sums over all kernels up to it.
struct Figures {
  const stats::KernelResult& kernel;
  const KernelCounters& total;
  Cycle cycles = 0, total_cycles = 0;  // with the launch floor, which Accel-Sim simulates too
  std::uint64_t core_khz = 0, warps_per_subcore = 0;
  std::optional<double> wall_seconds;
};

Value whole(std::uint64_t value) { return std::to_string(value); }

/// "%12.4f"
Value wide_ratio(std::uint64_t numerator, std::uint64_t denominator, std::uint64_t scale = 1) {
  if (denominator == 0) return std::nullopt;
  return fmt::format("{:>12}", fixed_ratio(numerator, denominator, 4, scale));
}

Value rate(std::uint64_t part, std::uint64_t all) {
  if (all == 0) return std::nullopt;
  return fixed_ratio(part, all, 4);
}

Value difference(std::uint64_t all, std::uint64_t part) {
  if (part > all) return std::nullopt;
  return whole(all - part);
}

Value of_l1(const Figures& f, std::uint64_t with_atomics) {
  return difference(with_atomics, f.total.sm.l1_atomic_sectors_sent);
}

/// Sectors that the SMs send to the L2.
std::uint64_t local_loads_sent(const Figures& f) { return f.total.sm.l1_local.read_misses; }
std::uint64_t local_stores_sent(const Figures& f) {
  return f.total.sm.l1_local.write_hits + f.total.sm.l1_local.write_misses;
}
Value global_loads_sent(const Figures& f) {
  return difference(f.total.sm.l1_load_sectors_sent + f.total.sm.l1_atomic_sectors_sent, local_loads_sent(f));
}
Value global_stores_sent(const Figures& f) {
  return difference(f.total.sm.l1_store_sectors_sent, local_stores_sent(f));
}

/// DRAM bursts as accesses of 32 bytes.
Value sectors(const Figures& f, std::uint64_t bursts) {
  const auto& mem = f.total.mem;
  const std::uint64_t all = mem.dram_reads + mem.dram_writes;
  if (all == 0) return whole(0);
  return fixed_ratio(bursts, all * kSectorBytes, 0, mem.dram_bytes);
}

/// Sub-core cycles with a resident warp hold `warps_per_subcore` slots each.
Value occupancy(const Figures& f, const KernelCounters& counters) {
  const auto& stalls = counters.sm.stalls;
  const std::uint64_t charged = std::accumulate(stalls.begin(), stalls.end(), std::uint64_t{0});
  const std::uint64_t active = charged - stalls[static_cast<unsigned>(stats::Stall::kEmpty)];
  if (f.warps_per_subcore == 0 || active == 0) return std::nullopt;
  return fixed_ratio(counters.sm.warp_cycles, active * f.warps_per_subcore, 4, 100);
}

/// GB/s = bytes * kHz / cycles / 10^6; a reply of 32 bytes for each access.
Value bandwidth(const Figures& f, std::uint64_t accesses, Cycle cycles) {
  constexpr std::uint64_t kGigaPerKilo = 1'000'000;
  return wide_ratio(accesses * kSectorBytes, cycles * kGigaPerKilo, f.core_khz);
}

/// Per second of wall time, of which a run takes at least one, as there.
Value speed(const Figures& f, std::uint64_t amount) {
  if (!f.wall_seconds) return std::nullopt;
  return whole(static_cast<std::uint64_t>(static_cast<double>(amount) / std::max(1.0, *f.wall_seconds)));
}

Value wall_time(const Figures& f) {
  if (!f.wall_seconds) return std::nullopt;
  const auto seconds = static_cast<std::uint64_t>(std::max(1.0, *f.wall_seconds));
  constexpr std::uint64_t kMinute = 60, kHour = 3600, kDay = 86400;
  return fmt::format("{} days, {} hrs, {} min, {} sec ({} sec)", seconds / kDay, seconds % kDay / kHour,
                     seconds % kHour / kMinute, seconds % kMinute, seconds);
}

Value slowdown(const Figures& f) {
  const Value cycles = speed(f, f.total_cycles);
  if (!cycles || *cycles == "0") return std::nullopt;
  return whole(f.core_khz * 1000 / std::stoull(*cycles));
}

struct Line {
  std::string_view before, after;  // the value stands between; without `value` a heading
  Value (*value)(const Figures&);
  std::string_view from;  // Lockstep's figures, for the documentation
};

#define OF(expression) [](const Figures& f) -> Value { return expression; }

constexpr Line kLines[] = {
    {"kernel_name = ", "", OF(stats::printable(f.kernel.name)), "name"},
    {"kernel_launch_uid = ", " ", OF(whole(f.kernel.id)), "id"},
    {"kernel_stream_id = ", "", OF(whole(f.kernel.stream)), "stream"},
    {"gpu_sim_cycle = ", "", OF(whole(f.cycles)), "launch_cycles + cycles of the kernel"},
    {"gpu_sim_insn = ", "", OF(whole(f.kernel.counters.sm.thread_instructions)),
     "thread_instructions of the kernel"},
    {"gpu_ipc = ", "", OF(wide_ratio(f.kernel.counters.sm.thread_instructions, f.cycles)), "of the two"},
    {"gpu_tot_sim_cycle = ", "", OF(whole(f.total_cycles)),
     "launch_cycles + cycles, summed over the kernels"},
    {"gpu_tot_sim_insn = ", "", OF(whole(f.total.sm.thread_instructions)), "thread_instructions"},
    {"gpu_tot_ipc = ", "", OF(wide_ratio(f.total.sm.thread_instructions, f.total_cycles)), "of the two"},
    {"gpu_tot_issued_cta = ", "", OF(whole(f.total.sm.ctas)), "sm.ctas"},
    {"gpu_occupancy = ", "% ", OF(occupancy(f, f.kernel.counters)),
     "sm.warp_cycles over the warp slots of sub-core cycles that are not stalls.empty or idle, of the "
     "kernel"},
    {"gpu_tot_occupancy = ", "% ", OF(occupancy(f, f.total)), "the same over all kernels"},
    {"L2_BW  = ", " GB/Sec", OF(bandwidth(f, f.kernel.counters.mem.l2.accesses, f.cycles)),
     "l2.accesses * 32 bytes in the kernel's time"},
    {"L2_BW_total  = ", " GB/Sec", OF(bandwidth(f, f.total.mem.l2.accesses, f.total_cycles)),
     "the same over all kernels"},
    {"gpu_total_sim_rate=", "", OF(speed(f, f.total.sm.thread_instructions)),
     "thread_instructions a second of wall time"},

    {"\n========= Core cache stats =========", "", nullptr, ""},
    {"L1I_cache:", "", nullptr, ""},
    {"\tL1I_total_cache_accesses = ", "", OF(whole(f.total.sm.l1i_accesses)), "sm.l1i_accesses"},
    {"\tL1I_total_cache_misses = ", "", OF(whole(f.total.sm.l1i_misses)), "sm.l1i_misses"},
    {"\tL1I_total_cache_miss_rate = ", "", OF(rate(f.total.sm.l1i_misses, f.total.sm.l1i_accesses)),
     "of the two"},
    {"L1D_cache:", "", nullptr, ""},
    {"\tL1D_total_cache_accesses = ", "", OF(of_l1(f, f.total.sm.l1.accesses)),
     "l1.accesses - l1.atomic_sectors_sent"},
    {"\tL1D_total_cache_misses = ", "", OF(of_l1(f, f.total.sm.l1.misses)),
     "l1.misses - l1.atomic_sectors_sent"},
    {"\tL1D_total_cache_miss_rate = ", "",
     OF(rate(f.total.sm.l1.misses - f.total.sm.l1_atomic_sectors_sent,
             f.total.sm.l1.accesses - f.total.sm.l1_atomic_sectors_sent)),
     "of the two"},
    {"\tL1D_total_cache_pending_hits = ", "", OF(whole(f.total.sm.l1.mshr_merges)), "l1.mshr_merges"},

    {"\nTotal_core_cache_stats:", "", nullptr, ""},
    {"\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][HIT] = ", "", OF(whole(l1_global_reads(f.total).hits)),
     "l1.read_hits - l1.local_read_hits"},
    {"\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][HIT_RESERVED] = ", "",
     OF(whole(l1_global_reads(f.total).merges)), "l1.mshr_merges (loads only merge) - l1.local_read_merges"},
    {"\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][MISS] = ", "",
     OF(whole(l1_global_reads(f.total).line_misses)),
     "l1.read_line_misses - l1.local_read_line_misses: the first sector of a line"},
    {"\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][SECTOR_MISS] = ", "",
     OF(whole(l1_global_reads(f.total).sector_misses())),
     "l1.read_misses - l1.local_read_misses less the MISS line"},
    {"\tTotal_core_cache_stats_breakdown[LOCAL_ACC_R][HIT] = ", "",
     OF(whole(local_reads(f.total.sm.l1_local).hits)), "l1.local_read_hits"},
    {"\tTotal_core_cache_stats_breakdown[LOCAL_ACC_R][HIT_RESERVED] = ", "",
     OF(whole(local_reads(f.total.sm.l1_local).merges)), "l1.local_read_merges"},
    {"\tTotal_core_cache_stats_breakdown[LOCAL_ACC_R][MISS] = ", "",
     OF(whole(local_reads(f.total.sm.l1_local).line_misses)), "l1.local_read_line_misses"},
    {"\tTotal_core_cache_stats_breakdown[LOCAL_ACC_R][SECTOR_MISS] = ", "",
     OF(whole(local_reads(f.total.sm.l1_local).sector_misses())), "l1.local_read_misses less the MISS line"},
    {"\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_W][HIT] = ", "",
     OF(whole(l1_global_writes(f.total).hits)), "l1.write_hits - l1.local_write_hits"},
    {"\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_W][MISS] = ", "",
     OF(whole(l1_global_writes(f.total).line_misses)),
     "l1.write_line_misses - l1.atomic_line_misses - l1.local_write_line_misses"},
    {"\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_W][SECTOR_MISS] = ", "",
     OF(whole(l1_global_writes(f.total).sector_misses())),
     "l1.write_misses - l1.atomic_sectors_sent - l1.local_write_misses less the MISS line"},
    {"\tTotal_core_cache_stats_breakdown[LOCAL_ACC_W][HIT] = ", "",
     OF(whole(local_writes(f.total.sm.l1_local).hits)), "l1.local_write_hits"},
    {"\tTotal_core_cache_stats_breakdown[LOCAL_ACC_W][MISS] = ", "",
     OF(whole(local_writes(f.total.sm.l1_local).line_misses)), "l1.local_write_line_misses"},
    {"\tTotal_core_cache_stats_breakdown[LOCAL_ACC_W][SECTOR_MISS] = ", "",
     OF(whole(local_writes(f.total.sm.l1_local).sector_misses())),
     "l1.local_write_misses less the MISS line"},
    {"\tTotal_core_cache_stats_breakdown[INST_ACC_R][HIT] = ", "",
     OF(difference(f.total.sm.l1i_accesses, f.total.sm.l1i_misses)), "sm.l1i_accesses - sm.l1i_misses"},
    {"\tTotal_core_cache_stats_breakdown[INST_ACC_R][MISS] = ", "", OF(whole(f.total.sm.l1i_misses)),
     "sm.l1i_misses"},
    {"\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][TOTAL_ACCESS] = ", "",
     OF(whole(l1_global_reads(f.total).all())), "l1.sectors_read less those of local memory"},
    {"\tTotal_core_cache_stats_breakdown[LOCAL_ACC_R][TOTAL_ACCESS] = ", "",
     OF(whole(local_reads(f.total.sm.l1_local).all())),
     "l1.local_read_hits + l1.local_read_merges + l1.local_read_misses"},
    {"\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_W][TOTAL_ACCESS] = ", "",
     OF(whole(l1_global_writes(f.total).all())),
     "l1.sectors_written - l1.atomic_sectors_sent less those of local memory"},
    {"\tTotal_core_cache_stats_breakdown[LOCAL_ACC_W][TOTAL_ACCESS] = ", "",
     OF(whole(local_writes(f.total.sm.l1_local).all())), "l1.local_write_hits + l1.local_write_misses"},
    {"\tTotal_core_cache_stats_breakdown[INST_ACC_R][TOTAL_ACCESS] = ", "",
     OF(whole(f.total.sm.l1i_accesses)), "sm.l1i_accesses"},

    {"", "", nullptr, ""},
    {"gpgpu_n_tot_thrd_icount = ", "", OF(whole(f.total.sm.thread_instructions)), "thread_instructions"},
    {"gpgpu_n_tot_w_icount = ", "", OF(whole(f.total.sm.warp_instructions)), "warp_instructions"},
    {"gpgpu_n_mem_read_local = ", "", OF(whole(local_loads_sent(f))), "l1.local_read_misses"},
    {"gpgpu_n_mem_write_local = ", "", OF(whole(local_stores_sent(f))),
     "l1.local_write_hits + l1.local_write_misses: stores go through"},
    {"gpgpu_n_mem_read_global = ", "", global_loads_sent,
     "l1.load_sectors_sent + l1.atomic_sectors_sent less those of local memory"},
    {"gpgpu_n_mem_write_global = ", "", global_stores_sent,
     "l1.store_sectors_sent less those of local memory"},
    {"gpgpu_n_shmem_bkconflict = ", "",
     OF(difference(f.total.sm.shared_wavefronts, f.total.sm.shared_instructions)),
     "sm.shared_wavefronts - sm.shared_instructions"},
    {"gpgpu_stall_shd_mem[s_mem][bk_conf] = ", "",
     OF(difference(f.total.sm.shared_wavefronts, f.total.sm.shared_instructions)),
     "sm.shared_wavefronts - sm.shared_instructions"},
    {"gpu_reg_bank_conflict_stalls = ", "", OF(whole(f.total.sm.rf_conflict_cycles)),
     "sm.rf_conflict_cycles"},

    {"average row locality = ", "",
     OF(f.total.mem.dram_activates == 0
            ? std::nullopt
            : Value(fmt::format("{}/{} = {}", f.total.mem.dram_reads + f.total.mem.dram_writes,
                                f.total.mem.dram_activates,
                                fixed_ratio(f.total.mem.dram_reads + f.total.mem.dram_writes,
                                            f.total.mem.dram_activates, 6)))),
     "(dram.reads + dram.writes) / dram.activates"},
    {"total dram reads = ", "", OF(sectors(f, f.total.mem.dram_reads)), "dram.reads in units of 32 bytes"},
    {"total dram writes = ", "", OF(sectors(f, f.total.mem.dram_writes)), "dram.writes in units of 32 bytes"},

    {"\n========= L2 cache stats =========", "", nullptr, ""},
    {"L2_total_cache_accesses = ", "", OF(whole(f.total.mem.l2.accesses)),
     "l2.accesses, with instruction and constant fetches"},
    {"L2_total_cache_misses = ", "", OF(whole(f.total.mem.l2.misses)), "l2.misses"},
    {"L2_total_cache_miss_rate = ", "", OF(rate(f.total.mem.l2.misses, f.total.mem.l2.accesses)),
     "of the two"},
    {"L2_total_cache_pending_hits = ", "", OF(whole(f.total.mem.l2.mshr_merges)), "l2.mshr_merges"},
    {"L2_total_cache_breakdown:", "", nullptr, ""},
    {"\tL2_cache_stats_breakdown[GLOBAL_ACC_R][HIT] = ", "", OF(whole(l2_global_reads(f.total).hits)),
     "l2.read_hits - l2.fetch_hits - l2.local_read_hits + l2.atomic_hits"},
    {"\tL2_cache_stats_breakdown[GLOBAL_ACC_R][HIT_RESERVED] = ", "",
     OF(whole(l2_global_reads(f.total).merges)),
     "l2.mshr_merges - l2.fetch_merges - l2.local_read_merges: atomics included"},
    {"\tL2_cache_stats_breakdown[GLOBAL_ACC_R][MISS] = ", "", OF(whole(l2_global_reads(f.total).line_misses)),
     "l2.read_line_misses - l2.fetch_line_misses - l2.local_read_line_misses + l2.atomic_line_misses: the "
     "first sector of a line"},
    {"\tL2_cache_stats_breakdown[GLOBAL_ACC_R][SECTOR_MISS] = ", "",
     OF(whole(l2_global_reads(f.total).sector_misses())), "l2.read_misses likewise, less the MISS line"},
    {"\tL2_cache_stats_breakdown[LOCAL_ACC_R][HIT] = ", "", OF(whole(local_reads(f.total.mem.l2_local).hits)),
     "l2.local_read_hits"},
    {"\tL2_cache_stats_breakdown[LOCAL_ACC_R][HIT_RESERVED] = ", "",
     OF(whole(local_reads(f.total.mem.l2_local).merges)), "l2.local_read_merges"},
    {"\tL2_cache_stats_breakdown[LOCAL_ACC_R][MISS] = ", "",
     OF(whole(local_reads(f.total.mem.l2_local).line_misses)), "l2.local_read_line_misses"},
    {"\tL2_cache_stats_breakdown[LOCAL_ACC_R][SECTOR_MISS] = ", "",
     OF(whole(local_reads(f.total.mem.l2_local).sector_misses())), "l2.local_read_misses less the MISS line"},
    {"\tL2_cache_stats_breakdown[GLOBAL_ACC_W][HIT] = ", "", OF(whole(l2_global_writes(f.total).hits)),
     "l2.write_hits - l2.atomic_hits - l2.local_write_hits"},
    {"\tL2_cache_stats_breakdown[GLOBAL_ACC_W][MISS] = ", "",
     OF(whole(l2_global_writes(f.total).line_misses)),
     "l2.write_line_misses - l2.atomic_line_misses - l2.local_write_line_misses"},
    {"\tL2_cache_stats_breakdown[GLOBAL_ACC_W][SECTOR_MISS] = ", "",
     OF(whole(l2_global_writes(f.total).sector_misses())), "l2.write_misses likewise, less the MISS line"},
    {"\tL2_cache_stats_breakdown[LOCAL_ACC_W][HIT] = ", "",
     OF(whole(local_writes(f.total.mem.l2_local).hits)), "l2.local_write_hits"},
    {"\tL2_cache_stats_breakdown[LOCAL_ACC_W][MISS] = ", "",
     OF(whole(local_writes(f.total.mem.l2_local).line_misses)), "l2.local_write_line_misses"},
    {"\tL2_cache_stats_breakdown[LOCAL_ACC_W][SECTOR_MISS] = ", "",
     OF(whole(local_writes(f.total.mem.l2_local).sector_misses())),
     "l2.local_write_misses less the MISS line"},
    {"\tL2_cache_stats_breakdown[GLOBAL_ACC_R][TOTAL_ACCESS] = ", "", global_loads_sent,
     "l1.load_sectors_sent + l1.atomic_sectors_sent less those of local memory"},
    {"\tL2_cache_stats_breakdown[LOCAL_ACC_R][TOTAL_ACCESS] = ", "", OF(whole(local_loads_sent(f))),
     "l1.local_read_misses"},
    {"\tL2_cache_stats_breakdown[GLOBAL_ACC_W][TOTAL_ACCESS] = ", "", global_stores_sent,
     "l1.store_sectors_sent less those of local memory"},
    {"\tL2_cache_stats_breakdown[LOCAL_ACC_W][TOTAL_ACCESS] = ", "", OF(whole(local_stores_sent(f))),
     "l1.local_write_hits + l1.local_write_misses"},

    {"", "", nullptr, ""},
    {"icnt_total_pkts_mem_to_simt=", "", OF(whole(f.total.icnt.replies)),
     "icnt.replies: messages of up to four sectors, there packets of one"},
    {"icnt_total_pkts_simt_to_mem=", "", OF(whole(f.total.icnt.requests)), "icnt.requests: likewise"},
    {"Req_Network_injected_packets_num = ", "", OF(whole(f.total.icnt.requests)), "icnt.requests"},
    {"Reply_Network_injected_packets_num = ", "", OF(whole(f.total.icnt.replies)), "icnt.replies"},

    {"", "", nullptr, ""},
    {"gpgpu_simulation_time = ", "", wall_time, "wall time of the run so far"},
    {"gpgpu_simulation_rate = ", " (inst/sec)", OF(speed(f, f.total.sm.thread_instructions)),
     "thread_instructions a second of wall time"},
    {"gpgpu_simulation_rate = ", " (cycle/sec)", OF(speed(f, f.total_cycles)),
     "cycles a second of wall time"},
    {"gpgpu_silicon_slowdown = ", "x", slowdown, "core clock over cycles per second"},
};
#undef OF

std::string_view plain(std::string_view text) {
  while (!text.empty() && (text.front() == '\t' || text.front() == '\n')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '=')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string StatsText::kernel(const stats::KernelResult& kernel, std::optional<double> wall_seconds) {
  const Cycle cycles = kernel.launch_cycles + kernel.cycles;
  cycles_ += cycles;
  stats::add(total_, kernel.counters);
  const Figures figures{kernel, total_, cycles, cycles_, core_khz_, options_.warps_per_subcore, wall_seconds};
  std::string out;
  for (const Line& line : kLines) {
    if (!line.value) {
      out += fmt::format("{}\n", line.before);
    } else if (const Value value = line.value(figures)) {
      out += fmt::format("{}{}{}\n", line.before, *value, line.after);
    }
  }
  return out;
}

std::string StatsText::end() {
  return "GPGPU-Sim: *** simulation thread exiting ***\nGPGPU-Sim: *** exit detected ***\n";
}

std::string accelsim_text(const stats::RunReport& report, const TextOptions& options) {
  StatsText text(report.core_khz, options);
  std::string out;
  for (const stats::KernelResult& kernel : report.kernels) {
    if (!kernel.partial) out += text.kernel(kernel);
  }
  return report.partial ? out : out + StatsText::end();
}

std::string stats_markdown() {
  std::string out =
      "\n## Its statistics\n\n"
      "`lockstep run TRACE --accelsim-stats` prints a block after each kernel in Accel-Sim's names and "
      "layout, so "
      "that\nscripts which search its output (`get_stats.py` of its job launching) go on working, and at the "
      "end of "
      "a whole run the\nline `GPGPU-Sim: *** exit detected ***`. As there, `gpu_sim_*`, `gpu_ipc`, "
      "`gpu_occupancy` "
      "and `L2_BW` are those of the\nkernel and all others run on over the kernels. A figure that Lockstep "
      "does not "
      "have is absent, never zero.\nCounters of no kernel (copies, write-backs after the end of a kernel) "
      "are in "
      "`stats.json` only.\n\n"
      "| line | from (docs/stats.md) |\n|---|---|\n";
  for (const Line& line : kLines) {
    if (line.value) out += fmt::format("| `{}` | {} |\n", plain(line.before), line.from);
  }
  return out;
}

}  // namespace lockstep::accelsim
