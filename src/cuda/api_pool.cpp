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
    if (rt.stream(handle).capture != nullptr) {
      auto memory = std::make_shared<const GraphAllocation>(rt.memory, bytes);
      *pointer = reinterpret_cast<void*>(memory->address());
      return rt.submit(handle, AllocateMemory{std::move(memory)});
    }
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
/// Whether a place is the host: cudaMemLocation of CUDA 13 (types from 1 on: device, host, NUMA nodes of the
/// host), or CUDA 12's device number in the same register, -1 for the host. There is one device.
bool is_host(abi::MemLocation place) {
  constexpr int kDevice = 1, kLastHost = 4;
  require(place.type >= -1 && place.type <= kLastHost, Status::kErrorInvalidDevice);
  return place.type == -1 || place.type > kDevice;
}
bool is_cuda_12(abi::MemLocation place) { return place.type <= 0; }

/// Managed memory lies where host and device both reach it: only the recorded trace knows of the place.
void check_managed(Runtime& rt, const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<Address>(pointer);
  const auto found = rt.memory.find(address);
  require(found && found->kind == exec::MemoryKind::kManaged && bytes > 0 &&
          bytes <= found->bytes - (address - found->begin));
}

/// CUDA 13: place, flags, stream. CUDA 12: device, stream.
int prefetch(const void* pointer, std::size_t bytes, abi::MemLocation place, std::uintptr_t fourth,
             abi::Stream fifth) {
  return api([&](Runtime& rt) {
    check_managed(rt, pointer, bytes);
    const bool host = is_host(place);
    require(is_cuda_12(place) || static_cast<unsigned>(fourth) == 0);  // flags: none are defined
    rt.submit(is_cuda_12(place) ? reinterpret_cast<abi::Stream>(fourth) : fifth,
              PrefetchMemory{reinterpret_cast<Address>(pointer), bytes, host});
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
/// cudaMemAccessDesc: the one device reaches its pool anyway.
struct AccessDescription {
  abi::MemLocation location;
  int flags;
};
LOCKSTEP_CUDA_API cudaMemPoolSetAccess(void* pool, const AccessDescription* access, std::size_t count) {
  return api([&](Runtime&) {
    require(pool == &default_pool && (count == 0 || access != nullptr));
    for (std::size_t i = 0; i < count; ++i) require(access[i].location.id == 0, Status::kErrorInvalidDevice);
  });
}
LOCKSTEP_CUDA_API cudaMemPoolTrimTo(void* pool, std::size_t) {
  return api([&](Runtime&) { require(pool == &default_pool); });
}
LOCKSTEP_CUDA_API cudaMemPrefetchAsync(const void* p, std::size_t n, abi::MemLocation place,
                                       std::uintptr_t fourth, abi::Stream fifth) {
  return prefetch(p, n, place, fourth, fifth);
}
LOCKSTEP_CUDA_API cudaMemPrefetchAsync_ptsz(const void* p, std::size_t n, abi::MemLocation place,
                                            std::uintptr_t fourth, abi::Stream fifth) {
  return prefetch(p, n, place, fourth, fifth);
}
LOCKSTEP_CUDA_API cudaMemAdvise(const void* p, std::size_t n, int advice, abi::MemLocation place) {
  return api([&](Runtime& rt) {
    require(advice >= 1 && advice <= 6);
    check_managed(rt, p, n);
    rt.advise(reinterpret_cast<Address>(p), n, advice, is_host(place));
  });
}
/// On hardware with concurrent managed access it has no effect but on visibility.
LOCKSTEP_CUDA_API cudaStreamAttachMemAsync(abi::Stream s, void* p, std::size_t n, unsigned) {
  return api([&](Runtime& rt) {
    (void)rt.stream(s);
    check_managed(rt, p, std::max<std::size_t>(n, 1));
  });
}
LOCKSTEP_CUDA_API cudaStreamAttachMemAsync_ptsz(abi::Stream s, void* p, std::size_t n, unsigned flags) {
  return cudaStreamAttachMemAsync(s, p, n, flags);
}

}  // namespace lockstep::cuda
