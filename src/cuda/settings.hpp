// Environment variables by which `lockstep exec` controls the runtime in the program's process.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/gpu_config.hpp"
#include "cuda/image_choice.hpp"
#include "exec/address_space.hpp"
#include "exec/check/checks.hpp"

namespace lockstep::cuda {

/// A file with the whole configuration, as to_ini() writes it.
inline constexpr const char* kConfigVariable = "LOCKSTEP_CUDA_CONFIG";
/// The compact trace to write; not set: none.
inline constexpr const char* kTraceVariable = "LOCKSTEP_CUDA_TRACE";

/// File descriptor of the connection to the simulation (wire.hpp); not set: none runs beside the program.
inline constexpr const char* kSocketVariable = "LOCKSTEP_CUDA_SOCKET";

/// Is the program recorded from its start on? "off": only its ranges, from cudaProfilerStart() to
/// cudaProfilerStop(). Not set: it is.
inline constexpr const char* kProfileFromStartVariable = "LOCKSTEP_CUDA_PROFILE_FROM_START";

/// Set: the trace says which of its events' records are the program's.
inline constexpr const char* kTimestampsVariable = "LOCKSTEP_CUDA_TIMESTAMPS";

/// A file with the times of an earlier run's events (event_times.hpp); not set: none.
inline constexpr const char* kEventTimesVariable = "LOCKSTEP_CUDA_EVENT_TIMES";

/// By what the program's computation between its calls is multiplied (host_time.hpp), from 0 to kMaxHostTime;
/// not set: it takes no time.
inline constexpr const char* kHostTimeVariable = "LOCKSTEP_CUDA_HOST_TIME";
inline constexpr double kMaxHostTime = 1000;

/// Set and not empty: the simulation also receives the kernels' PTX (listing.hpp).
inline constexpr const char* kListingVariable = "LOCKSTEP_CUDA_LISTING";

/// Limit on the simulated core cycles; not set: no limit.
inline constexpr const char* kMaxCyclesVariable = "LOCKSTEP_CUDA_MAX_CYCLES";

/// Warp instructions that a warp executes before the next one of its CTA does (exec::RunOptions::interleave);
/// not set: it runs to its next barrier.
inline constexpr const char* kInterleaveVariable = "LOCKSTEP_CUDA_INTERLEAVE";
/// Warp instructions that the process may execute in all; not set: no limit.
inline constexpr const char* kMaxInstructionsVariable = "LOCKSTEP_CUDA_MAX_INSTRUCTIONS";

/// File descriptor of an ExecutionPage (execution_page.hpp); not set: no monitoring.
inline constexpr const char* kExecutionVariable = "LOCKSTEP_CUDA_EXECUTION";

/// Process number of `lockstep exec`: a program that it has started itself ends with it, even where it is
/// killed. Not set: it goes on.
inline constexpr const char* kParentVariable = "LOCKSTEP_CUDA_PARENT";

/// File descriptor from which one process can read once (an eventfd semaphore): that process is recorded,
/// others that the program starts are only executed. Not set: this process is recorded.
inline constexpr const char* kClaimVariable = "LOCKSTEP_CUDA_CLAIM";

/// Host threads on which CTAs may run at the same time; not set: one.
inline constexpr const char* kThreadsVariable = "LOCKSTEP_CUDA_THREADS";

/// GPUs that the program sees; not set: one.
inline constexpr const char* kDevicesVariable = "LOCKSTEP_CUDA_DEVICES";

/// Pairs of GPUs without a way from one to the other, such as 0-5,1-6: neither is the other's peer. Not set:
/// there are none.
inline constexpr const char* kApartVariable = "LOCKSTEP_CUDA_APART";

/// GPUs whose switch copies and reduces what multicast objects are for: bit d of a decimal number is GPU d.
/// Not set: none.
inline constexpr const char* kMulticastVariable = "LOCKSTEP_CUDA_MULTICAST";

/// Links of the GPUs: 0-8*12,1-8*12 says that GPU 0 and GPU 1 have 12 links each to node 8. Nodes are GPUs,
/// then switches. Not set: there are none.
inline constexpr const char* kLinksVariable = "LOCKSTEP_CUDA_LINKS";

/// exec::parse_checks()'s list; not set: nothing is checked.
inline constexpr const char* kChecksVariable = "LOCKSTEP_CUDA_CHECKS";
/// The folder in which each process of the program leaves what its checks have found, as check.PID.json
/// (exec::Findings).
inline constexpr const char* kFindingsVariable = "LOCKSTEP_CUDA_FINDINGS";

/// `count` links side by side between two nodes: GPUs, then switches.
struct Links {
  unsigned a = 0, b = 0, count = 0;
};

/// What a program sees of the hardware.
struct Machine {
  config::GpuConfig gpu;
  unsigned devices = 1;                           // to exec::kMaxDevices
  std::set<std::pair<unsigned, unsigned>> apart;  // pairs of them that are no peers, the lower number first
  exec::DeviceSet multicast = 0;                  // that can be in a multicast object
  std::vector<Links> links;
};

struct Settings : Machine {
  bool functional = true;              // no process of the program is recorded or simulated
  std::string trace;                   // path; empty: nothing is recorded
  int socket = -1;                     // -1: none
  bool profile_from_start = true;      // false: only the program's ranges are recorded
  bool timestamps = false;             // the program's records of events are marked in the trace
  std::string event_times;             // file; empty: none
  double host_time = 0;                // factor; 0: it takes none
  bool listings = false;               // the simulation receives the kernels' PTX
  std::uint64_t max_cycles = 0;        // 0: no limit
  std::uint64_t max_instructions = 0;  // 0: no limit
  std::uint32_t interleave = 0;        // exec::RunOptions::interleave
  int execution = -1;                  // descriptor of an ExecutionPage; -1: none
  unsigned threads = 1;
  exec::Checks checks;
  std::string findings;     // a folder, where anything is checked
  bool ptx_refuse = false;  // PTX that the GPU's driver would refuse is an error

  [[nodiscard]] PtxLimit ptx_limit() const { return {gpu.gpu.arch, gpu.gpu.name, ptx_refuse}; }
};

/// From the environment. Throws UserError naming the variable.
[[nodiscard]] Machine read_machine();
/// From the environment. A process that is not the recorded one gets neither trace nor socket, and says so on
/// stderr. Throws UserError naming the variable.
[[nodiscard]] Settings read_settings();

}  // namespace lockstep::cuda
