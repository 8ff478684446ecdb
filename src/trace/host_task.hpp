// What the process of a device does on its host, beside the device's kernels: it computes, sends and
// receives. docs/networking.md, "Programs for the host"; docs/mpi-programs.md.
#pragma once

#include <cstdint>

#include "util/types.hpp"

namespace lockstep::trace {

/// Process i belongs to device i.
struct HostTask {
  /// From kMessage to kDone: the steps of calls of an MPI library. Their messages are numbered from 0 for
  /// each pair of sender and receiver; `instructions` holds the number.
  enum class Kind : std::uint8_t {
    kCompute,  // `instructions`, and `bytes` read from and written to the host's memory
    kSend,  // `bytes` from `local` to `remote` in the memory of `peer`; complete when the NIC has the command
    kReceive,  // complete when the next message of `peer` has arrived, in the order of sending
    kFlush,    // complete when all messages sent so far are: each has been acknowledged
    kMessage,  // as kSend: an eager message, or a put
    kOffer,    // likewise by rendezvous: the data leave when `peer` has accepted it
    kAccept,   // from here on an offered message of `peer` has a buffer to be written to
    kArrived,  // complete when that message of `peer` has arrived
    kSent,     // complete when that message to `peer` is acknowledged; one that was not offered: at once
    kEnter,    // a call of the library that waits for nothing
    kCall,     // a call of the CUDA runtime, or its return from a wait: Command::Call in `instructions`
    // One-sided operations of the library: also numbered, by pair of caller and target.
    kPut,     // as kMessage, but `peer` is not notified
    kGet,     // `bytes` from `remote` in the memory of `peer` to `local`; complete as kSend
    kAtomic,  // `bytes` (4 or 8) at `remote` there; the old value goes to `local`, 0: to none; likewise
    kDone,    // complete when that operation is
    kElapse,  // the program itself computes for as long as was measured: `bytes` is ps, up to kMaxElapsedPs
  };
  static constexpr std::uint64_t kKinds = 16;
  static constexpr std::uint64_t kCountedKinds = 4;  // the first ones: counted_as()
  Kind kind = Kind::kCompute;
  bool within = false;  // part of a library call that an earlier task has counted
  std::uint16_t peer = 0;
  std::uint64_t instructions = 0;
  std::uint64_t bytes = 0;
  Address local = 0, remote = 0;
};

inline constexpr std::uint64_t kMaxMessages = 1 << 24;                  // from one process to another
inline constexpr std::uint64_t kMaxElapsedPs = std::uint64_t{1} << 56;  // 20 hours
inline constexpr Address kHostMemory = Address{1} << 62;  // from here on: memory of a process's host

[[nodiscard]] constexpr bool is_library_task(HostTask::Kind kind) {
  return kind >= HostTask::Kind::kMessage && kind <= HostTask::Kind::kDone;
}
[[nodiscard]] constexpr bool is_one_sided(HostTask::Kind kind) {
  return kind >= HostTask::Kind::kPut && kind <= HostTask::Kind::kDone;
}
/// Whether it has a peer and the number of a message or an operation.
[[nodiscard]] constexpr bool names_message(HostTask::Kind kind) {
  return (kind >= HostTask::Kind::kMessage && kind <= HostTask::Kind::kSent) || is_one_sided(kind);
}
/// Whether it has data in memory.
[[nodiscard]] constexpr bool moves_data(HostTask::Kind kind) {
  using Kind = HostTask::Kind;
  return kind == Kind::kSend || kind == Kind::kMessage || kind == Kind::kOffer ||
         (is_one_sided(kind) && kind != Kind::kDone);
}

/// The kind as which statistics count it.
[[nodiscard]] constexpr HostTask::Kind counted_as(HostTask::Kind kind) {
  using Kind = HostTask::Kind;
  if (kind < Kind::kMessage) return kind;
  if (kind == Kind::kGet || kind == Kind::kAccept || kind == Kind::kArrived) return Kind::kReceive;
  if (moves_data(kind)) return Kind::kSend;
  return kind == Kind::kSent || kind == Kind::kDone ? Kind::kFlush : Kind::kCompute;
}

}  // namespace lockstep::trace
