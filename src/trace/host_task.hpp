// What the process of a device does on its host, in a stream with the device's kernels: it computes, sends
// and receives. docs/networking.md, "Programs of the host".
#pragma once

#include <cstdint>

#include "util/types.hpp"

namespace lockstep::trace {

/// Process i is that of device i. Messages from one process to another are received in the order of sending.
struct HostTask {
  enum class Kind : std::uint8_t {
    kCompute,  // `instructions`, and `bytes` read from and written to the host's memory
    kSend,  // `bytes` from `local` to `remote` in the memory of `peer`; complete when the NIC has the command
    kReceive,  // complete when the next message of `peer` has come
    kFlush,    // complete when all messages sent so far are: each has been acknowledged
  };
  static constexpr std::uint64_t kKinds = 4;
  Kind kind = Kind::kCompute;
  bool within = false;  // of a call to the library of which a task came before: takes no call of its own
  std::uint16_t peer = 0;
  std::uint64_t instructions = 0;
  std::uint64_t bytes = 0;
  Address local = 0, remote = 0;
};

}  // namespace lockstep::trace
