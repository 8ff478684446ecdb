// What a run hands to the writers, and the writers.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stats/counters.hpp"
#include "stats/energy_parts.hpp"
#include "stats/network_report.hpp"
#include "stats/profile.hpp"
#include "stats/sampling_report.hpp"
#include "util/types.hpp"
#include "uvm/counter_table.hpp"
#include "uvm/peer_pages.hpp"

namespace lockstep::stats {

struct KernelResult {
  std::string name;
  std::uint64_t id = 0, stream = 0;
  Dim3 grid, block;
  Cycle start_cycle = 0;            // first CTA's dispatch
  Cycle launch_cycles = 0;          // the configured launch floor
  Cycle cycles = 0;                 // first dispatch to last completion
  std::uint64_t ctas_per_sm = 0;    // occupancy limit
  std::string occupancy_limiter;    // "warps", "registers", "shared", "ctas", "threads", "grid"
  std::uint64_t subcores = 0;       // sub-cores of the GPU: stalls sum to cycles * subcores
  bool partial = false;             // the run ended before it did
  std::uint16_t device = 0;         // that ran it
  bool estimated = false;           // a run by samples did not time it; cycles and counters are predicted
  std::uint64_t ctas_left_out = 0;  // CTAs that were not timed: their part is predicted
  KernelCounters counters;
  std::uint32_t code = 0;               // with --profile: index of RunReport::codes
  KernelProfile profile;                // of the code's instructions, in their order; empty: not profiled
  std::optional<EnergyParts> energy{};  // nothing where the device's configuration has no coefficients
  template <class A>
  void persist(A& a) {
    a.members(*this, name, id, stream, grid, block, start_cycle, launch_cycles, cycles, ctas_per_sm,
              occupancy_limiter, subcores, partial, device, estimated, ctas_left_out, counters, code, profile,
              energy);
  }
};

struct CopyResult {
  std::string kind;  // "host_to_device", "device_to_host", "fill", "device_to_device",
                     // "peer_to_peer" (from the device's memory to another one's)
  Address address = 0;
  std::uint64_t bytes = 0;
  Cycle start_cycle = 0, cycles = 0;
  std::uint16_t device = 0;  // that carried it out; cycles are its own
  template <class A>
  void persist(A& a) {
    a.members(*this, kind, address, bytes, start_cycle, cycles, device);
  }
};

/// One direction of a link between two nodes, whole run.
struct LinkResult {
  std::string from, to;  // "gpu0", "host0", "nic0", a switch's name
  std::string kind;
  std::uint64_t count = 0, bytes_per_second = 0;          // links side by side, together
  std::uint64_t messages = 0, bytes = 0, data_bytes = 0;  // data: without headers and acknowledgements
  // Time in which a message could have begun but for its credits, and nothing else was sent.
  std::uint64_t request_stall_ps = 0, reply_stall_ps = 0;
  std::optional<std::uint64_t> picojoules{};  // of `bytes`
};

/// One sample of the time series; counters are the differences to the sample before.
struct IntervalSample {
  Cycle end_cycle = 0;
  KernelCounters counters;
  std::optional<EnergyParts> energy{};  // of all devices that have coefficients
  template <class A>
  void persist(A& a) {
    a.members(*this, end_cycle, counters, energy);
  }
};

/// Managed memory, of the whole run.
struct ManagedReport {
  std::uint64_t allocations = 0, footprint_bytes = 0;  // as rounded up to trees
  std::uint64_t device_bytes = 0;                      // of the device, for managed pages
  Cycle added_fault_cycles = 0;  // fault handling that the simulated time does not contain (additive)
  uvm::RunCounters counters;
  struct Allocation {
    Address base = 0;
    std::uint64_t bytes = 0;
    uvm::AllocationCounters counters;
  };
  std::vector<Allocation> by_allocation;
  struct Sample {
    Cycle cycle = 0;
    std::uint64_t pages = 0;  // frames in use
  };
  std::vector<Sample> residency;      // with a time series, at its samples
  std::vector<uvm::PeerPages> peers;  // of several devices: what came from and went to each
  template <class A>
  void persist(A& a) {
    a.members(*this, allocations, footprint_bytes, device_bytes, added_fault_cycles, counters, by_allocation,
              residency, peers);
  }
};

/// A system of several devices.
struct SystemReport {
  std::string name;
  struct Device {
    std::string gpu;
    std::uint64_t config_hash = 0, core_khz = 0;
  };
  std::vector<Device> devices;
  std::vector<LinkResult> links;
  std::optional<NetworkReport> network;  // with NICs
  std::vector<ManagedReport> managed;    // by device; empty without managed memory
};

/// Everything that stats.json says. Cycles of a kernel or copy are those of its device. Nothing here depends
/// on paths, threads, windows or dates.
struct RunReport {
  std::string version;                           // of the program
  std::string gpu;                               // configuration's name
  std::map<std::string, std::string> overrides;  // parameters that are not those of the model `gpu`
  std::uint64_t config_hash = 0;
  std::string trace_name;
  std::uint64_t trace_hash = 0;
  std::uint64_t core_khz = 0;
  std::string energy_source = "none";  // of the energies' coefficients; "none": no energy is known
  Cycle total_cycles = 0;
  bool partial = false;
  std::string partial_reason;  // "interrupted", "max-cycles", "max-instructions", "deadlock", "program" (it
                               // did not end well), "running", "error", or empty
  std::vector<KernelResult> kernels;  // in completion order, ties by list order
  std::vector<ProfiledCode> codes;    // of profiled kernels
  std::vector<CopyResult> copies;
  std::vector<IntervalSample> intervals;
  KernelCounters unattributed;  // copies, and write-backs after the end of the kernel that wrote
  std::vector<std::pair<std::string, std::uint64_t>> unknown_opcodes;  // sorted
  std::optional<ManagedReport> managed;                                // of one device
  std::optional<SystemReport>
      system;  // of several devices; gpu, overrides, config_hash and core_khz are device 0's
  std::optional<SamplingReport> sampling;  // of a run by samples
  std::vector<std::string> remarks;        // what the trace or the model cannot carry, sorted

  [[nodiscard]] bool has_profile() const { return !codes.empty(); }
  /// Whether there was managed memory.
  [[nodiscard]] bool has_managed() const { return managed || (system && !system->managed.empty()); }
};

/// The core clock of the device that ran it.
[[nodiscard]] inline std::uint64_t khz_of(const RunReport& report, std::uint16_t device) {
  return report.system ? report.system->devices.at(device).core_khz : report.core_khz;
}

/// What depends on the host: host.json only.
struct HostReport {
  unsigned threads = 1;
  std::string schedule;
  double wall_seconds = 0, cpu_seconds = 0;
  double seconds_kernels = 0;  // wall time while a kernel ran: without start and copies
  std::uint64_t peak_rss_bytes = 0;
  std::uint64_t warp_instructions = 0;
  Cycle cycles = 0;
  std::uint64_t windows = 0, barriers = 0, awake_domains = 0, window_cycles = 0;  // sums over windows
  std::uint64_t skipped_cycles = 0;
  // Summed over threads: SMs, memory partitions, dispatcher and copy engine, noting what was sent, decoding,
  // the barrier.
  double seconds_sm = 0, seconds_memory = 0, seconds_other = 0, seconds_exchange = 0, seconds_decode = 0,
         seconds_waiting = 0;
  // seconds_serial: the leader between windows; seconds_alone: in windows that were not shared. Of
  // the windows that are shared, the sums of the longest share and of the mean share: the imbalance.
  double seconds_serial = 0, seconds_alone = 0, seconds_longest_share = 0, seconds_mean_share = 0;
  std::vector<double> seconds_busy;  // of each thread, in windows
  /// One for each process where several simulate one system; empty otherwise.
  struct Rank {
    std::string host;
    std::uint64_t devices = 0, threads = 0, synchronisations = 0, messages = 0, bytes = 0;
    // seconds_work: outside of exchanges; seconds_waiting: for the rank that took longest each time;
    // seconds_sync: what exchanging takes when all have come.
    double seconds_work = 0, seconds_waiting = 0, seconds_sync = 0, cpu_seconds = 0;
    std::uint64_t peak_rss_bytes = 0;
    template <class A>
    void persist(A& a) {
      a.members(*this, host, devices, threads, synchronisations, messages, bytes, seconds_work,
                seconds_waiting, seconds_sync, cpu_seconds, peak_rss_bytes);
    }
  };
  std::vector<Rank> ranks;
  std::string date, host, command;
};

/// stats.json: schema 1; of several devices schema 2, which says the device of kernels and copies, and
/// "system". Byte-identical for equal reports.
[[nodiscard]] std::string to_json(const RunReport& report);
/// stats.csv: header and one row per kernel; of several devices with a column "device" at the end.
[[nodiscard]] std::string to_csv(const RunReport& report);
/// intervals.csv: a row an interval.
[[nodiscard]] std::string intervals_csv(const RunReport& report);
[[nodiscard]] std::string to_json(const HostReport& host);
struct SummaryOptions {
  unsigned columns = 100;     // of the terminal
  bool all_launches = false;  // a row for each launch, however many there are
};
/// The summary on the terminal.
[[nodiscard]] std::string to_text(const RunReport& report, const HostReport& host,
                                  const SummaryOptions& options = {});

/// Writes stats.csv, intervals.csv, profile.json, host.json and stats.json into `directory` (made if
/// missing): each to a temporary name, synced and renamed, so that a full disk or a kill leaves the old file
/// or none. Throws UserError naming the file.
void write_outputs(const std::string& directory, const RunReport& report, const HostReport& host);

}  // namespace lockstep::stats
