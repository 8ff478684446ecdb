// What a process of an MPI program has called: the file that src/messages/pmpi writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "util/types.hpp"

namespace lockstep::messages {

/// Memory that others may access: displacements count from `base`, in units of `unit` bytes.
struct Window {
  Address base = 0;
  std::uint64_t unit = 1;
};

/// A communicator, or a window and its processes: the same `id` in all of them.
struct Communicator {
  std::uint64_t id = 0;
  std::vector<std::uint16_t> members;  // processes, by their rank in it
  std::optional<Window> window{};
};

enum class Collective : std::uint8_t {
  kBarrier,
  kBroadcast,      // bytes[0]
  kReduce,         // bytes[0]: what each process gives
  kAllReduce,      // likewise
  kAllGather,      // bytes[i]: block of member i
  kAllToAll,       // bytes[i]: from this process to member i
  kGather,         // bytes[0]: this process's block
  kScatter,        // bytes[i]: to member i; at the root alone
  kReduceScatter,  // bytes[i]: block of member i
  kScan,           // bytes[0]: what each process gives
  kExclusiveScan,  // likewise
  kNeighborhood,   // bytes[i]: to member to[i]
};

/// A program that waits for a time to come would read its clock for ever.
inline constexpr std::uint64_t kMaxClockReads = 1 << 20;
/// Of one side.
enum class OneSided : std::uint8_t {
  kPut,
  kGet,
  kAccumulate,     // kPut of what is there combined with it
  kGetAccumulate,  // likewise, and what was there goes to `receive`
  kAtomic,         // one element of 4 or 8 bytes; what was there goes to `receive`, if that is not 0
};
/// What orders the operations on a window: `to` names the others.
enum class Order : std::uint8_t {
  kFence,     // all own operations are complete, and all processes have come so far
  kFlush,     // own operations on those are complete
  kFlushAll,  // all own operations are
  kLock,      // of that member
  kUnlock,    // likewise: own operations on it are complete
  kUnlockAll,
  kPost,      // tells those that they may access this process's memory
  kStart,     // waits until those have said so
  kComplete,  // own operations on those are complete, which are told
  kWait,      // waits until those have said so
};

struct Call {
  enum class Kind : std::uint8_t {
    kSend,
    kReceive,
    kComplete,
    kCollective,
    kBeginCollective,
    kClock,
    kOneSided,
    kOrder,
  } kind = Kind::kSend;
  Collective collective = Collective::kBarrier;
  OneSided one_sided = OneSided::kPut;
  Order order = Order::kFence;
  bool within = false;                  // of a call of MPI of which an entry came before
  std::uint64_t position = 0;           // commands of the process's CUDA trace before it
  std::uint64_t request = 0;            // kComplete ends it; others begin it
  std::uint32_t communicator = 0;       // index; of kOneSided and kOrder it is a window
  std::uint16_t peer = 0;               // kSend, kOneSided: to; kComplete of a receive: from. A process
  std::int64_t tag = 0;                 // kSend; kComplete of a receive
  std::uint32_t root = 0;               // kCollective: its rank in the communicator
  Address send = 0, receive = 0;        // own buffers: kOneSided: of the data, and for what was there
  std::uint64_t displacement = 0;       // kOneSided: in the target's window
  std::vector<std::uint64_t> bytes;     // kSend, kOneSided: of the data; kCollective: as Collective says
  std::vector<std::uint32_t> to, from;  // members: kOrder: as Order says; kNeighborhood: one for each edge
};

struct Recording {
  std::uint16_t rank = 0, size = 0;
  std::vector<Communicator> communicators;
  std::vector<Call> calls;                 // in their order
  std::vector<std::string> not_simulated;  // functions that were called and are not among `calls`
  bool complete = false;                   // MPI_Finalize was called
};

/// Each line is a letter and numbers, in the order of Call's members:
///   lockstep-mpi 1 RANK SIZE
///   C NUMBER ID MEMBERS MEMBER...
///   S POSITION WITHIN REQUEST COMMUNICATOR PEER TAG BYTES ADDRESS
///   R POSITION WITHIN REQUEST COMMUNICATOR ADDRESS
///   W POSITION WITHIN REQUEST [PEER TAG]
///   K POSITION NAME COMMUNICATOR ROOT SEND RECEIVE COUNT BYTES... [TO... COUNT FROM...]
///   I POSITION REQUEST, then as K
///   T POSITION for MPI_Wtime
///   V COMMUNICATOR BASE UNIT: that is a window
///   O POSITION REQUEST NAME WINDOW PEER BYTES SEND RECEIVE DISPLACEMENT
///   Y POSITION NAME WINDOW COUNT TO...
///   N FUNCTION, E POSITION at the end, X CODE for MPI_Abort
/// Receives match messages in the order of their requests' numbers.
/// Throws InputError with file and line.
[[nodiscard]] Recording read_recording(const std::string& path);

}  // namespace lockstep::messages
