// Facts about the host: cores, times, names.
#pragma once

#include <string>

namespace lockstep::cli {

/// Cores that this process may run on (its affinity mask); at least 1.
[[nodiscard]] unsigned affinity_cores();

/// SLURM_CPUS_PER_TASK, else the first number of OMP_NUM_THREADS, else affinity_cores(). Values
/// other than a number from 1 to kMaxThreads are ignored.
[[nodiscard]] unsigned default_threads();
inline constexpr unsigned kMaxThreads = 1024;

/// `lockstep` and the arguments behind it.
[[nodiscard]] std::string command_line(int argc, char** argv);

}  // namespace lockstep::cli
