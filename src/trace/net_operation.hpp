// Requests of a device's kernels to the network, through queues of entries in its memory, which an agent (the
// device's command processor, or a thread of the host) serves. Protocol: docs/networking.md.
#pragma once

#include <cstdint>

#include "util/types.hpp"

namespace lockstep::trace {

/// Bytes of an entry of a queue, and of a command to a NIC. The first 4 bytes of an entry are its status
/// word, which is not 0 from the kernel's last write of the entry until the agent has finished it.
inline constexpr std::uint64_t kNetEntryBytes = 64;

/// A put of at most this many bytes counts as a signal (awaited_signals.hpp) for each 4-byte word that it
/// writes on its target; of a longer one only `NetOperation::signal` does.
inline constexpr std::uint64_t kMaxSignallingPut = 64;

/// One entry of a queue, in the order in which the agent takes them: entry i is at index i mod n of a queue
/// of n.
struct NetOperation {
  enum class Kind : std::uint8_t {
    kPut,     // `bytes` from `local` to `remote` on the target, then one write of 8 bytes at `signal` there
    kGet,     // `bytes` from `remote` on the target to `local`
    kAtomic,  // `bytes` (4 or 8) at `remote` on the target, one signal there; the old value goes to `local`
    kQuiet,   // complete when all operations of the queue before it are
  };
  static constexpr std::uint64_t kKinds = 4;
  Kind kind = Kind::kPut;
  bool blocking = false;     // its entry is finished when it is complete, otherwise when it has been issued
  bool inlined = false;      // kPut: the data are in the entry
  std::uint16_t target = 0;  // device
  std::uint32_t queue = 0;   // of the device: its kNetQueue commands, counted from 0
  std::uint32_t ready = 0;   // signals that the entry's status word must have had before the agent can see it
  Address local = 0;         // kAtomic: 0: no value is returned
  Address remote = 0;
  std::uint64_t bytes = 0;
  Address signal = 0;  // kPut: 0: none
};

}  // namespace lockstep::trace
