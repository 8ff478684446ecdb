// Facts about the host: cores, times, names.
#pragma once

#include <string>

#include "stats/report.hpp"

namespace lockstep::cli {

/// Cores that this process may run on (its affinity mask); at least 1.
[[nodiscard]] unsigned affinity_cores();

/// SLURM_CPUS_PER_TASK, else the first number of OMP_NUM_THREADS, else affinity_cores(). Values
/// other than a number from 1 to kMaxThreads are ignored.
[[nodiscard]] unsigned default_threads();
inline constexpr unsigned kMaxThreads = 1024;

/// Fills date, host, command, and those of wall time, CPU time and peak memory that are still zero.
void describe_host(stats::HostReport& report, int argc, char** argv, double wall_seconds);

}  // namespace lockstep::cli
