// The heap of malloc() and free() in kernels. It outlives launches.
#pragma once

#include <cstdint>
#include <map>

#include "exec/device_memory.hpp"

namespace lockstep::exec {

class DeviceHeap {
 public:
  /// `limit`: bytes that may be allocated at the same time (cudaLimitMallocHeapSize). `memory` must outlive
  /// the heap.
  DeviceHeap(DeviceMemory& memory, std::uint64_t limit, unsigned device = 0)
      : memory_(memory), limit_(limit), device_(device) {}
  ~DeviceHeap() {
    for (const auto& [at, bytes] : live_) memory_.release(at);
  }
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  /// 0 where the limit or the memory is used up.
  [[nodiscard]] Address allocate(std::uint64_t bytes) {
    if (bytes > limit_ - used_) return 0;
    const auto at = memory_.allocate(bytes, MemoryKind::kDevice, DeviceMemory::kAlignment, device_);
    if (!at) return 0;
    live_.emplace(*at, bytes);
    used_ += bytes;
    return *at;
  }
  /// False where `at` was not allocated here; freeing 0 does nothing.
  bool release(Address at) {
    if (at == 0) return true;
    const auto found = live_.find(at);
    if (found == live_.end()) return false;
    used_ -= found->second;
    memory_.release(at);
    live_.erase(found);
    return true;
  }
  /// Does an allocation of the heap begin at `at`?
  [[nodiscard]] bool owns(Address at) const { return live_.count(at) != 0; }

 private:
  DeviceMemory& memory_;
  std::uint64_t limit_, used_ = 0;
  unsigned device_;
  std::map<Address, std::uint64_t> live_;
};

}  // namespace lockstep::exec
