// Stream-ordered allocation and its pools, and hints for managed memory.
#include <algorithm>
#include <cstring>

#include "cuda/api.hpp"

namespace lockstep::cuda {

namespace {

/// The one pool of the device: allocation is from the arena, so a pool has nothing to keep.
struct Pool {
  unsigned long long release_threshold = 0;
};
Pool default_pool;

int malloc_async(void** pointer, std::size_t bytes, abi::Stream handle) {
  return api([&](Runtime& rt) {
    require(pointer != nullptr && bytes > 0);
    require(rt.stream(handle).capture == nullptr, Status::kErrorStreamCaptureUnsupported);
    const auto address = rt.memory.allocate(bytes);
    require(address.has_value(), Status::kErrorMemoryAllocation);
    *pointer = reinterpret_cast<void*>(*address);
  });
}
int free_async(void* pointer, abi::Stream stream) {
  return api([&](Runtime& rt) {
    if (pointer != nullptr) rt.submit(stream, FreeMemory{pointer});
  });
}
/// Managed memory lies where host and device both reach it: the hints have no functional effect.
int managed_hint(const void* pointer, std::size_t bytes, abi::Stream stream) {
  return api([&](Runtime& rt) {
    (void)rt.stream(stream);
    const auto found = rt.memory.find(reinterpret_cast<Address>(pointer));
    require(found && found->kind == exec::MemoryKind::kManaged && bytes > 0);
  });
}

}  // namespace

LOCKSTEP_CUDA_API cudaMallocAsync(void** p, std::size_t n, abi::Stream s) { return malloc_async(p, n, s); }
LOCKSTEP_CUDA_API cudaMallocAsync_ptsz(void** p, std::size_t n, abi::Stream s) {
  return malloc_async(p, n, s);
}
LOCKSTEP_CUDA_API cudaMallocFromPoolAsync(void** p, std::size_t n, void* pool, abi::Stream s) {
  return pool == &default_pool ? malloc_async(p, n, s) : finish(Status::kErrorInvalidValue);
}
LOCKSTEP_CUDA_API cudaFreeAsync(void* p, abi::Stream s) { return free_async(p, s); }
LOCKSTEP_CUDA_API cudaFreeAsync_ptsz(void* p, abi::Stream s) { return free_async(p, s); }
LOCKSTEP_CUDA_API cudaDeviceGetDefaultMemPool(void** pool, int device) {
  return api([&](Runtime&) {
    require(pool != nullptr);
    require(device == 0, Status::kErrorInvalidDevice);
    *pool = &default_pool;
  });
}
LOCKSTEP_CUDA_API cudaDeviceGetMemPool(void** pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}
LOCKSTEP_CUDA_API cudaMemPoolSetAttribute(void* pool, int attribute, void* value) {
  return api([&](Runtime&) {
    constexpr int kReuseFirst = 1, kReuseLast = 3, kReleaseThreshold = 4;
    require(pool == &default_pool && value != nullptr && attribute >= kReuseFirst);
    if (attribute == kReleaseThreshold)
      std::memcpy(&default_pool.release_threshold, value, sizeof default_pool.release_threshold);
    require(attribute <= kReuseLast || attribute == kReleaseThreshold, Status::kErrorNotSupported);
  });
}
LOCKSTEP_CUDA_API cudaMemPoolTrimTo(void* pool, std::size_t) {
  return api([&](Runtime&) { require(pool == &default_pool); });
}
LOCKSTEP_CUDA_API cudaMemPrefetchAsync(const void* p, std::size_t n, abi::MemLocation, unsigned,
                                       abi::Stream s) {
  return managed_hint(p, n, s);
}
LOCKSTEP_CUDA_API cudaMemPrefetchAsync_ptsz(const void* p, std::size_t n, abi::MemLocation, unsigned,
                                            abi::Stream s) {
  return managed_hint(p, n, s);
}
LOCKSTEP_CUDA_API cudaMemAdvise(const void* p, std::size_t n, int advice, abi::MemLocation) {
  if (advice < 1 || advice > 6) return finish(Status::kErrorInvalidValue);
  return managed_hint(p, n, nullptr);
}
LOCKSTEP_CUDA_API cudaStreamAttachMemAsync(abi::Stream s, void* p, std::size_t n, unsigned) {
  return managed_hint(p, std::max<std::size_t>(n, 1), s);
}
LOCKSTEP_CUDA_API cudaStreamAttachMemAsync_ptsz(abi::Stream s, void* p, std::size_t n, unsigned) {
  return managed_hint(p, std::max<std::size_t>(n, 1), s);
}

}  // namespace lockstep::cuda
