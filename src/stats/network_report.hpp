// What served the network requests of kernels, and how long that took.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::stats {

/// The stages of an operation in their order; each ends with what it is named after. See docs/stats.md.
inline constexpr std::array<std::string_view, 11> kNetworkStages = {
    "written", "visible",  "seen",    "issued",   "rung",    "fetched",
    "sent",    "complete", "noticed", "finished", "returned"};
/// How many of them come before those of net::StageTimes.
inline constexpr std::size_t kStagesBeforeAgent = 3;
inline constexpr std::array<std::string_view, 4> kNetworkKinds = {"put", "get", "atomic", "quiet"};
/// What a command processor's core asks the L2 for.
inline constexpr std::array<std::string_view, 8> kCoreAccessNames = {
    "entry", "record", "signal", "command", "doorbell", "data", "code", "update"};

/// What a device's process does on its host.
inline constexpr std::array<std::string_view, 4> kHostTaskNames = {"compute", "send", "receive", "flush"};

struct CoreAccesses {
  std::uint64_t accesses = 0, misses = 0;
};

/// How many are in a queue over time (net::DepthCounters), of queues that are alike.
struct QueueDepth {
  std::uint64_t queues = 0, entered = 0, most = 0, total_ps = 0;
  std::vector<std::uint64_t> times_ps{};  // b: with 2^b to less than 2^(b+1); to the last that is not 0

  template <class A>
  void persist(A& a) {
    a.members(*this, queues, entered, most, total_ps, times_ps);
  }
};

struct NetworkReport {
  using Depth = QueueDepth;
  /// Sums over operations of one kind. The stages add up to total_ps.
  struct Operations {
    std::uint64_t count = 0, blocking = 0;
    std::array<std::uint64_t, kNetworkStages.size()> sum_ps{}, max_ps{};
    std::uint64_t total_ps = 0, max_total_ps = 0;
  };
  struct Thread {
    std::string node;  // "gpu0", "host0"
    std::uint32_t number = 0;
    std::array<Operations, kNetworkKinds.size()> operations;  // by kNetworkKinds
    std::uint64_t polls = 0, found = 0, record_polls = 0, records = 0, instructions = 0, active_ps = 0;
    std::uint64_t leak_pj = 0, base_pj = 0, instruction_pj = 0;
    std::optional<std::array<CoreAccesses, kCoreAccessNames.size()>> l2{};  // of a command processor's core
    Depth queues{};  // of kernels: entries seen and not finished
    std::optional<Depth>
        completion_queues{};  // records written and not noticed; a NIC's own queues have none

    template <class A>
    void persist(A& a) {
      a.members(*this, node, number, operations, polls, found, record_polls, records, instructions, active_ps,
                leak_pj, base_pj, instruction_pj, l2, queues, completion_queues);
    }
  };
  struct Nic {
    std::string node;
    std::array<std::uint64_t, 3> begun{};  // operations, by kNetworkKinds
    std::uint64_t doorbells = 0, commands = 0, records = 0, bytes_put = 0, bytes_got = 0;
    std::uint64_t served_reads = 0, served_writes = 0, served_atomics = 0;  // for other NICs, and itself
    Depth commands_open{}, commands_waiting{};  // whose doorbell has come: not complete; not begun

    template <class A>
    void persist(A& a) {
      a.members(*this, node, begun, doorbells, commands, records, bytes_put, bytes_got, served_reads,
                served_writes, served_atomics, commands_open, commands_waiting);
    }
  };
  /// Lines of a device's L2 that were locked (mem::LineLockCounters, whose order `times` has).
  struct Locks {
    std::string node;
    std::uint64_t stores = 0, degraded = 0, updates = 0, held = 0;
    std::uint64_t most = 0, most_together = 0;  // lines locked at a time: in one slice, in all of them
    std::uint64_t unlocked = 0, total_ps = 0, longest_ps = 0;
    std::vector<std::uint64_t>
        times;  // b: from 2^b L2 cycles on, to less than twice that; to the last that is not 0

    template <class A>
    void persist(A& a) {
      a.members(*this, node, stores, degraded, updates, held, most, most_together, unlocked, total_ps,
                longest_ps, times);
    }
  };
  /// A device's process on its host.
  struct Process {
    struct Tasks {
      std::uint64_t count = 0, total_ps = 0, max_ps = 0;
    };
    std::string node;
    std::uint32_t device = 0;
    std::array<Tasks, kHostTaskNames.size()> tasks;  // by kHostTaskNames
    std::uint64_t instructions = 0, memory_bytes = 0, bytes_sent = 0;
    Operations messages;  // those whose completion it has noticed
    Depth completion_queues{};
    // Of an MPI program: when it read its clock, and when its events were complete, in its order.
    std::optional<std::vector<std::uint64_t>> clock_ps{}, event_ps{};

    template <class A>
    void persist(A& a) {
      a.members(*this, node, device, tasks, instructions, memory_bytes, bytes_sent, messages,
                completion_queues, clock_ps, event_ps);
    }
  };
  std::string design;
  std::uint64_t run_ps = 0;  // from the beginning of the run to its end
  std::vector<Locks> locks;  // of designs with command processors
  std::vector<Thread> threads;
  std::vector<Process> processes;  // of designs with such
  std::vector<Nic> nics;

  /// Sums over all threads and processes.
  [[nodiscard]] Operations all_of(std::size_t kind) const;

  template <class A>
  void persist(A& a) {
    a.members(*this, design, run_ps, locks, threads, processes, nics);
  }
};

/// Its value in stats.json.
[[nodiscard]] std::string network_json(const NetworkReport& network);
/// Lines of the summary.
[[nodiscard]] std::string network_lines(const NetworkReport& network);

}  // namespace lockstep::stats
