// Allocation and release of device, host and managed memory.
#pragma once

#include <cstdint>

#include "cuda/memory_log.hpp"
#include "cuda/pools.hpp"
#include "exec/device_memory.hpp"

namespace lockstep::cuda {

class Allocations {
 public:
  /// All must outlive this.
  Allocations(exec::DeviceMemory& memory, MemoryLog& log, Pools& pools)
      : memory_(memory), log_(log), pools_(pools) {}

  /// Memory of its own, of the calling thread's device. Throws ApiError(MemoryAllocation).
  [[nodiscard]] Address allocate(std::uint64_t bytes, exec::MemoryKind kind);
  /// Also of a pool. False where no allocation begins there.
  [[nodiscard]] bool release(Address address);

 private:
  exec::DeviceMemory& memory_;
  MemoryLog& log_;
  Pools& pools_;
};

}  // namespace lockstep::cuda
