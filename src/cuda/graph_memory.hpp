// Memory that graphs allocate and free: each allocation node has one address for good, whose memory is in use
// from the node's launch to its release, by a node, cudaFree or cudaFreeAsync (CUDA C++ Programming Guide,
// graph memory nodes).
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "exec/device_memory.hpp"

namespace lockstep::cuda {

/// The address of an allocation node, its clones and their executable graphs. The last of them, and the
/// memory while it is in use, keep it.
class GraphAllocation {
 public:
  /// Throws ApiError(MemoryAllocation).
  GraphAllocation(exec::DeviceMemory& memory, std::uint64_t bytes, unsigned device);
  ~GraphAllocation();
  GraphAllocation(const GraphAllocation&) = delete;
  GraphAllocation& operator=(const GraphAllocation&) = delete;

  [[nodiscard]] Address address() const { return address_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  exec::DeviceMemory* memory_;
  Address address_ = 0;
  std::uint64_t bytes_ = 0;
};

class GraphMemory {
 public:
  /// Bytes, as cudaDeviceGetGraphMemAttribute reports them: in use, and kept for later launches; now and at
  /// most.
  struct Footprint {
    std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
  };

  /// A launch reaches the node. Throws ApiError(InvalidValue) when the memory is still in use.
  void begin_use(const std::shared_ptr<const GraphAllocation>& allocation);
  /// False where no graph's memory in use begins there.
  bool end_use(Address address);
  [[nodiscard]] bool in_use(Address address) const { return in_use_.contains(address); }
  /// Keeps no more than what is in use.
  void trim() { footprint_.reserved = footprint_.used; }
  void reset_high(bool used);
  [[nodiscard]] const Footprint& footprint() const { return footprint_; }
  /// Device reset: the memory is gone.
  void clear();

 private:
  std::map<Address, std::shared_ptr<const GraphAllocation>> in_use_;
  Footprint footprint_;
};

}  // namespace lockstep::cuda
