// What each device has of its own: default stream, limits, heap, memory of graphs, error.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "cuda/error.hpp"
#include "cuda/graph_memory.hpp"
#include "cuda/stream_state.hpp"
#include "exec/device_heap.hpp"

namespace lockstep::cuda {

/// enum cudaLimit: cudaLimitPersistingL2CacheSize.
inline constexpr int kLimitPersistingL2 = 6;

class DeviceState {
 public:
  DeviceState(unsigned number, exec::DeviceMemory& memory);

  [[nodiscard]] unsigned number() const { return number_; }

  /// cudaDeviceGetLimit, cudaDeviceSetLimit, by enum cudaLimit. Throw ApiError(UnsupportedLimit).
  [[nodiscard]] std::size_t limit(int limit) const;
  void set_limit(int limit, std::size_t value);
  /// Local memory of a thread for called functions: cudaLimitStackSize only raises it.
  [[nodiscard]] std::size_t stack_bytes() const { return stack_bytes_; }

  /// The heap of malloc() in kernels. Its size is fixed from the first call on.
  [[nodiscard]] exec::DeviceHeap& heap();
  [[nodiscard]] bool heap_owns(Address address) const { return heap_ && heap_->owns(address); }
  void drop_heap() { heap_.reset(); }

  StreamState default_stream;
  GraphMemory graph_memory;
  int cache_preference = 0;          // enum cudaFuncCache; only reported
  unsigned l2_resets = 0;            // calls of cudaCtxResetPersistingL2Cache
  Status sticky = Status::kSuccess;  // after a fault every call on the device fails with it until its reset

 private:
  static constexpr std::size_t kLimits = 7;

  unsigned number_;
  exec::DeviceMemory& memory_;
  std::unique_ptr<exec::DeviceHeap> heap_;
  /// Stack, printf FIFO, malloc heap, sync depth, pending launches, L2 fetch, persisting L2.
  std::array<std::size_t, kLimits> limits_{1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
  std::size_t stack_bytes_ = 64 << 10;
};

}  // namespace lockstep::cuda
