// The memory layout that kernels, the host and the agent share: queues, their entries, the symmetric heap.
// Plain C++17, for programs and for the runtime that executes them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::shmem {

/// The version of the structures in this file.
inline constexpr std::uint32_t kLayoutVersion = 1;

enum class Op : std::uint8_t { kPut, kGet, kAtomic, kQuiet };
inline constexpr unsigned kOps = 4;

/// Operations on integers of 4 or 8 bytes. With Entry::kReturns, each returns the old value.
enum class AtomicOp : std::uint8_t { kFetch, kSet, kCompareSwap, kAdd, kAnd, kOr, kXor };
inline constexpr unsigned kAtomicOps = 7;

/// One request of a work-group. The status word is written last; the agent sets it to 0 when it has processed
/// the entry.
struct alignas(64) Entry {
  static constexpr std::uint32_t kFree = 0, kReady = 1;
  // Flags.
  static constexpr std::uint8_t kBlocking = 1;   // processed when it is complete, not when it is under way
  static constexpr std::uint8_t kInline = 2;     // kPut of at most 8 bytes: `local` has the bytes themselves
  static constexpr std::uint8_t kSignal = 4;     // kPut: after the data, `value` is stored at `signal`
  static constexpr std::uint8_t kSignalAdd = 8;  // with kSignal: `value` is added instead
  static constexpr std::uint8_t kReturns = 16;   // kAtomic: the old value is stored at `local`
  static constexpr std::uint8_t kAllFlags = 31;

  std::uint32_t status;
  std::uint8_t op;         // Op
  std::uint8_t atomic_op;  // AtomicOp
  std::uint8_t flags;
  std::uint8_t reserved;  // 0
  std::uint32_t pe;       // the target
  std::uint32_t context;  // the queue that holds it
  std::uint64_t remote;   // in the target's symmetric heap: bytes from its beginning
  std::uint64_t local;    // an address in the calling PE's memory
  std::uint64_t bytes;
  std::uint64_t signal;   // in the target's symmetric heap, a multiple of 8
  std::uint64_t value;    // the signal's; for kAtomic: the operand
  std::uint64_t compare;  // for kCompareSwap: the expected value
};
static_assert(sizeof(Entry) == 64);

/// The state of a queue, in memory of its PE. Initially all 0.
struct alignas(64) QueueControl {
  std::uint32_t served;  // entries that the agent has processed, modulo 2^32: the read index
  std::uint32_t padding[15];
  std::uint64_t returned;  // the result of `g` and of fetching atomics
  // Used by the work-group alone; kept from one kernel to the next.
  std::uint64_t epoch;       // collective calls so far
  std::uint64_t reductions;  // how many of them were reductions
  std::uint64_t more[5];
};
static_assert(sizeof(QueueControl) == 128);

/// At the start of each symmetric heap: for each queue, the words by which collective calls of its context
/// synchronise across all PEs.
struct SyncWords {
  static constexpr unsigned kMaxPes = 64, kRounds = 6;  // 2^kRounds = kMaxPes
  std::uint64_t round[kRounds];                         // of barriers: the epoch in which it was reached
  std::uint64_t arrived[kMaxPes];                       // by source: the epoch whose data are there
  std::uint64_t padding[2];
};

/// Follows them: the data that `reduce` receives from each PE, double-buffered.
inline constexpr std::size_t kReduceBytes = 256;
inline constexpr std::size_t kInboxBytes = 2 * kReduceBytes;

/// What the host passes to the simulator for a PE.
struct PeMemory {
  void* heap;  // symmetric
  std::uint64_t heap_bytes;
  Entry* entries;  // World::queues times World::depth
  QueueControl* controls;
  void* agent;  // for the agent's own use: commands to the NIC and their completions
  std::uint64_t agent_bytes;
};
struct World {
  std::uint32_t version;  // kLayoutVersion
  std::uint32_t pes;      // PE i is device i
  std::uint32_t queues;   // of each PE
  std::uint32_t depth;    // entries of a queue: a power of two
  const PeMemory* pe;
};

/// A task of a PE's process on its host, in the order of its stream: see host_process.h.
enum class Task : std::uint32_t { kCompute, kSend, kReceive, kFlush };
inline constexpr unsigned kTasks = 4;
struct HostTask {
  static constexpr std::uint32_t kWithin = 1;  // flag: part of a call that has been counted already
  std::uint32_t task;                          // Task
  std::uint32_t pe;                            // whose process; the current device
  std::uint32_t peer;                          // kSend, kReceive: the other PE
  std::uint32_t flags;
  std::uint64_t instructions;  // kCompute
  std::uint64_t bytes;         // kCompute: of the host's memory; kSend
  std::uint64_t local;         // kSend: an address in the PE's memory
  std::uint64_t remote;        // kSend: in the other PE's symmetric heap, bytes from its beginning
  void (*call)(void*);         // kCompute: does the work, once; may be null
  void* data;                  // its argument
};

/// Functions that the simulator's runtime library exports, under the names below. Both return 0, or else
/// store an error text in `message` (of `size` bytes).
using AttachFunction = int (*)(const World* world, char* message, std::size_t size);
using DetachFunction = int (*)(char* message, std::size_t size);
/// Enqueues the task in a stream of the PE's device.
using TaskFunction = int (*)(const HostTask* task, void* stream, char* message, std::size_t size);
inline constexpr char kAttachName[] = "lockstep_shmem_attach", kDetachName[] = "lockstep_shmem_detach",
                      kTaskName[] = "lockstep_shmem_task";

}  // namespace lockstep::shmem
