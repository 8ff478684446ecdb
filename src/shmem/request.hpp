// What an entry of a queue asks for, checked. Kernels may write anything there.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "exec/device_memory.hpp"
#include "lockstep/shmem/layout.h"
#include "trace/net_operation.hpp"

namespace lockstep::shmem {

/// An entry that asks for something impossible. `what()` names device, queue, entry and what is wrong.
class BadEntry : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where an entry stands.
struct EntryPlace {
  unsigned device = 0;
  std::uint32_t queue = 0;  // of World::queues
  std::uint32_t entry = 0;
};

/// What an entry asks for, with addresses instead of offsets. Of `operation` all is set but `queue` and
/// `ready`.
struct Request {
  trace::NetOperation operation;
  AtomicOp atomic_op = AtomicOp::kFetch;
  bool adds = false;  // the signal
  std::uint64_t inlined = 0, value = 0, compare = 0;
};

/// `pes`: of all devices. Throws BadEntry.
[[nodiscard]] Request read_request(const Entry& entry, const EntryPlace& place,
                                   const std::vector<PeMemory>& pes, const exec::DeviceMemory& memory);

}  // namespace lockstep::shmem
