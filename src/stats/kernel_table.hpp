// The summary's table of kernels.
#pragma once

#include <cstdint>
#include <string>

#include "stats/report.hpp"
#include "util/types.hpp"

namespace lockstep::stats {

/// Up to 20 launches: a row for each, in the order of their ends, with cache hit rates and DRAM throughput.
/// More than that: a row for each kernel with the number of its launches and their times, the most expensive
/// kernel first, unless all launches are asked for.
[[nodiscard]] std::string kernel_table(const RunReport& report, const SummaryOptions& options);

/// Cycles of a clock of `khz` in microseconds, with as many decimals as help.
[[nodiscard]] std::string microseconds(Cycle cycles, std::uint64_t khz);

}  // namespace lockstep::stats
