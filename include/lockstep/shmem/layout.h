// What kernels, the host and the agent that serves them agree on: queues, their entries, the symmetric heap.
// Plain C++17, for programs and for the runtime that executes them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::shmem {

/// Of the structures in this file.
inline constexpr std::uint32_t kLayoutVersion = 1;

enum class Op : std::uint8_t { kPut, kGet, kAtomic, kQuiet };
inline constexpr unsigned kOps = 4;

/// Of integers of 4 or 8 bytes. All give the old value where Entry::kReturns.
enum class AtomicOp : std::uint8_t { kFetch, kSet, kCompareSwap, kAdd, kAnd, kOr, kXor };
inline constexpr unsigned kAtomicOps = 7;

/// One request of a work-group. The status word is written last, and is 0 again once the agent has dealt with
/// the entry.
struct alignas(64) Entry {
  static constexpr std::uint32_t kFree = 0, kReady = 1;
  // Flags.
  static constexpr std::uint8_t kBlocking = 1;   // dealt with when it is complete, not when it is under way
  static constexpr std::uint8_t kInline = 2;     // kPut of at most 8 bytes: `local` has the bytes themselves
  static constexpr std::uint8_t kSignal = 4;     // kPut: after the data, `value` is stored at `signal`
  static constexpr std::uint8_t kSignalAdd = 8;  // with kSignal: is added there
  static constexpr std::uint8_t kReturns = 16;   // kAtomic: the old value is stored at `local`
  static constexpr std::uint8_t kAllFlags = 31;

  std::uint32_t status;
  std::uint8_t op;         // Op
  std::uint8_t atomic_op;  // AtomicOp
  std::uint8_t flags;
  std::uint8_t reserved;  // 0
  std::uint32_t pe;       // the target
  std::uint32_t context;  // the queue that it is written to
  std::uint64_t remote;   // in the target's symmetric heap: bytes from its beginning
  std::uint64_t local;    // an address in the calling PE's memory
  std::uint64_t bytes;
  std::uint64_t signal;   // in the target's symmetric heap, a multiple of 8
  std::uint64_t value;    // of the signal; of kAtomic its operand
  std::uint64_t compare;  // kCompareSwap
};
static_assert(sizeof(Entry) == 64);

/// Beside each queue, in memory of its PE. All of it is 0 at first.
struct alignas(64) QueueControl {
  std::uint32_t served;  // entries that the agent has dealt with, modulo 2^32: the read index
  std::uint32_t padding[15];
  std::uint64_t returned;  // what `g` and fetching atomics bring
  // Of the work-group alone, from one kernel to the next.
  std::uint64_t epoch;       // collective calls so far
  std::uint64_t reductions;  // of these
  std::uint64_t more[5];
};
static_assert(sizeof(QueueControl) == 128);

/// The beginning of each symmetric heap: for each queue the words by which collective calls of its context on
/// all PEs know of each other.
struct SyncWords {
  static constexpr unsigned kMaxPes = 64, kRounds = 6;  // 2^kRounds = kMaxPes
  std::uint64_t round[kRounds];                         // of barriers: the epoch in which it was reached
  std::uint64_t arrived[kMaxPes];                       // by source: the epoch whose data are there
  std::uint64_t padding[2];
};

/// Behind them what `reduce` brings from each PE, twice.
inline constexpr std::size_t kReduceBytes = 256;
inline constexpr std::size_t kInboxBytes = 2 * kReduceBytes;

/// What the host tells the simulator of a PE.
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

/// What the process of a PE does on its host, behind what its stream has: see host_process.h.
enum class Task : std::uint32_t { kCompute, kSend, kReceive, kFlush };
inline constexpr unsigned kTasks = 4;
struct HostTask {
  static constexpr std::uint32_t kWithin = 1;  // flag: of a call that has been counted
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

/// What the simulator's runtime library exports, by the names below. Both return 0, or fill `message` (of
/// `size` bytes) with a text that says what is wrong.
using AttachFunction = int (*)(const World* world, char* message, std::size_t size);
using DetachFunction = int (*)(char* message, std::size_t size);
/// Puts the task into a stream of the PE's device.
using TaskFunction = int (*)(const HostTask* task, void* stream, char* message, std::size_t size);
inline constexpr char kAttachName[] = "lockstep_shmem_attach", kDetachName[] = "lockstep_shmem_detach",
                      kTaskName[] = "lockstep_shmem_task";

}  // namespace lockstep::shmem
