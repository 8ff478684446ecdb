#include "correlate/metrics.hpp"

#include <algorithm>
#include <array>

namespace lockstep::correlate {
namespace {

// Names: Nsight Compute documentation, "Metrics Reference" and the sections of its details page. A profiler's
// durations contain the launch, as elapsed_ns does.
constexpr std::array<Metric, 21> kMetrics{{
    {"gpu__time_duration.sum", "elapsed_ns"},
    {"Duration", "elapsed_ns"},
    {"gpc__cycles_elapsed.max", "elapsed_cycles"},
    {"sm__cycles_elapsed.max", "elapsed_cycles"},
    {"Elapsed Cycles", "elapsed_cycles"},
    {"smsp__inst_executed.sum", "warp_instructions"},
    {"sm__inst_executed.sum", "warp_instructions"},
    {"smsp__thread_inst_executed.sum", "thread_instructions"},
    {"sm__warps_launched.sum", "sm.warps"},
    {"smsp__warps_launched.sum", "sm.warps"},
    {"l1tex__t_sectors.sum", "l1.accesses"},
    {"l1tex__t_sectors_lookup_hit.sum", "l1.hits"},
    {"lts__t_sectors.sum", "l2.accesses"},
    {"lts__t_sectors_lookup_hit.sum", "l2.hits"},
    {"lts__t_sectors_lookup_miss.sum", "l2.misses"},
    {"lts__t_sectors_op_read.sum", "l2.sectors_read"},
    {"lts__t_sectors_op_write.sum", "l2.sectors_written"},
    {"dram__bytes.sum", "dram.bytes"},
    {"smsp__inst_executed_op_shared.sum", "sm.shared_instructions"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "sm.shared_wavefronts"},
    {"smsp__inst_executed_op_global.sum", "sm.global_instructions"},
}};

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

std::optional<std::string_view> counter_of(std::string_view profiler) {
  const auto found = std::ranges::find(kMetrics, profiler, &Metric::profiler);
  if (found == kMetrics.end()) return std::nullopt;
  return found->counter;
}

}  // namespace lockstep::correlate
