// How busy a kernel kept each part of the GPU, and for what its warps waited.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "report/run.hpp"
#include "stats/counters.hpp"

namespace lockstep::report {

/// Peak rates of the GPU, of all its parts together, per core cycle.
struct Peaks {
  double subcores = 0;                               // warp instructions that can be issued
  double l1_bytes = 0;                               // of L1 data caches and shared memory
  double l2_bytes = 0;                               // of the L2's data arrays
  double icnt_read_bytes = 0, icnt_write_bytes = 0;  // through the crossbar, from and to the L2
  double dram_bytes = 0;
  double core_hz = 0;
};
[[nodiscard]] Peaks peaks_of(const config::GpuConfig& machine);

/// Shares of a peak over the kernel's cycles, 0 to 1.
struct Usage {
  double issue = 0;  // of issue slots
  double l1 = 0;     // L1 data cache and shared memory: banks or tags, whichever is busier
  double l2 = 0;     // L2: data arrays or crossbar, whichever is busier
  double dram = 0;
  std::array<double, stats::kPipes> pipes{};
  double empty = 0;                             // sub-cores' cycles without a warp
  std::array<double, stats::kStalls> stalls{};  // of the sub-cores' cycles with a warp; kEmpty: 0
  double lanes = 0;                             // active lanes of an issued instruction, 1 to 32
  double wavefronts = 0;                        // per shared-memory instruction; 0: none
  double shared_share = 0;                      // of the L1's bank cycles, those of shared memory
  double constant = 0;                          // cycles of the SMs in which the constant cache is busy
  double constant_passes = 0;                   // per constant load; 0: none
  double atomic_share = 0;                      // of sectors sent to the L2, those of atomics and reductions
  double warps = 0;                             // resident warps of a sub-core that has any
  double cycles = 0, launch_cycles = 0;

  [[nodiscard]] double stall(stats::Stall reason) const { return stalls[static_cast<unsigned>(reason)]; }
  [[nodiscard]] double pipe(stats::Pipe unit) const { return pipes[static_cast<unsigned>(unit)]; }
  /// The stall reason with the most cycles.
  [[nodiscard]] stats::Stall top_stall() const;
  /// The busiest execution unit; kMio, the path to memory, does not count as one.
  [[nodiscard]] stats::Pipe top_pipe() const;
};
[[nodiscard]] Usage usage_of(const Values& kernel, const config::GpuConfig& machine);

/// The name in a sentence: "FP64 unit".
[[nodiscard]] std::string_view pipe_title(stats::Pipe unit);
/// As the last part of the counter's name: "fp64".
[[nodiscard]] std::string_view pipe_name(stats::Pipe unit);
/// "a result of global, local or texture memory", as a reason for waiting.
[[nodiscard]] std::string_view stall_meaning(stats::Stall reason);

}  // namespace lockstep::report
