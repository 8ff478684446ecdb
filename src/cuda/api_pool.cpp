// Stream-ordered allocation and its pools.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "cuda/api.hpp"

namespace lockstep::cuda {

namespace {

/// Where the stream is captured, a graph's allocation: it has no pool here.
int malloc_async(void** pointer, std::size_t bytes, abi::Stream handle, void* from) {
  return api([&](Runtime& rt) {
    require(pointer != nullptr && bytes > 0);
    const unsigned device = rt.streams.stream(handle).device;
    Pool& pool = from != nullptr ? rt.pools.at(from) : rt.pools.current_of(PoolPlace::on(device));
    const OnDevice on(static_cast<unsigned>(pool.place.device));
    if (rt.streams.stream(handle).capture != nullptr) {
      auto memory = std::make_shared<const GraphAllocation>(rt.memory, bytes, device);
      *pointer = reinterpret_cast<void*>(memory->address());
      return rt.submit(handle, AllocateMemory{std::move(memory)});
    }
    require(pool.has_room(bytes), Status::kErrorMemoryAllocation);
    const Address address = rt.allocations.allocate(bytes, pool.place.memory_kind());
    rt.memory.reach_only(address, pool.reached_by());
    rt.pools.begin_use(pool, address, bytes);
    *pointer = reinterpret_cast<void*>(address);
  });
}
int malloc_from(void** pointer, std::size_t bytes, void* pool, abi::Stream stream) {
  if (pool == nullptr) return finish(Status::kErrorInvalidValue);
  return malloc_async(pointer, bytes, stream, pool);
}
int free_async(void* pointer, abi::Stream stream) {
  return api([&](Runtime& rt) {
    if (pointer != nullptr) rt.submit(stream, FreeMemory{pointer});
  });
}

}  // namespace

LOCKSTEP_CUDA_API cudaMallocAsync(void** p, std::size_t n, abi::Stream s) {
  return malloc_async(p, n, s, nullptr);
}
LOCKSTEP_CUDA_API cudaMallocAsync_ptsz(void** p, std::size_t n, abi::Stream s) {
  return malloc_async(p, n, s, nullptr);
}
LOCKSTEP_CUDA_API cudaMallocFromPoolAsync(void** p, std::size_t n, void* pool, abi::Stream s) {
  return malloc_from(p, n, pool, s);
}
LOCKSTEP_CUDA_API cudaMallocFromPoolAsync_ptsz(void** p, std::size_t n, void* pool, abi::Stream s) {
  return malloc_from(p, n, pool, s);
}
LOCKSTEP_CUDA_API cudaFreeAsync(void* p, abi::Stream s) { return free_async(p, s); }
LOCKSTEP_CUDA_API cudaFreeAsync_ptsz(void* p, abi::Stream s) { return free_async(p, s); }

LOCKSTEP_CUDA_API cudaDeviceGetDefaultMemPool(void** pool, int device) {
  return api([&](Runtime& rt) {
    require(pool != nullptr);
    *pool = &rt.pools.default_of(PoolPlace::on(rt.devices.at(device).number()));
  });
}
LOCKSTEP_CUDA_API cudaDeviceGetMemPool(void** pool, int device) {
  return api([&](Runtime& rt) {
    require(pool != nullptr);
    *pool = &rt.pools.current_of(PoolPlace::on(rt.devices.at(device).number()));
  });
}
LOCKSTEP_CUDA_API cudaDeviceSetMemPool(int device, void* pool) {
  return api([&](Runtime& rt) {
    rt.pools.set_current(PoolPlace::on(rt.devices.at(device).number()), rt.pools.at(pool));
  });
}
LOCKSTEP_CUDA_API cudaMemGetDefaultMemPool(void** pool, const abi::MemLocation* place, int kind) {
  return api([&](Runtime& rt) {
    require(pool != nullptr && place != nullptr);
    *pool = &rt.pools.default_of(PoolPlace::of(*place, kind, rt.devices.count()));
  });
}
LOCKSTEP_CUDA_API cudaMemGetMemPool(void** pool, const abi::MemLocation* place, int kind) {
  return api([&](Runtime& rt) {
    require(pool != nullptr && place != nullptr);
    *pool = &rt.pools.current_of(PoolPlace::of(*place, kind, rt.devices.count()));
  });
}
LOCKSTEP_CUDA_API cudaMemSetMemPool(const abi::MemLocation* place, int kind, void* pool) {
  return api([&](Runtime& rt) {
    require(place != nullptr);
    rt.pools.set_current(PoolPlace::of(*place, kind, rt.devices.count()), rt.pools.at(pool));
  });
}

LOCKSTEP_CUDA_API cudaMemPoolCreate(void** pool, const abi::MemPoolProps* properties) {
  return api([&](Runtime& rt) {
    require(pool != nullptr && properties != nullptr);
    require(properties->handleTypes == 0, Status::kErrorNotSupported);  // for other processes
    *pool = &rt.pools.create(PoolPlace::of(properties->location, properties->allocType, rt.devices.count()),
                             properties->maxSize);
  });
}
LOCKSTEP_CUDA_API cudaMemPoolDestroy(void* pool) {
  return api([&](Runtime& rt) { rt.pools.destroy(rt.pools.at(pool)); });
}
LOCKSTEP_CUDA_API cudaMemPoolSetAttribute(void* pool, int attribute, const void* value) {
  return api([&](Runtime& rt) {
    require(value != nullptr);
    std::uint64_t number = 0;
    std::memcpy(&number, value, Pool::is_int(attribute) ? sizeof(int) : sizeof number);
    rt.pools.at(pool).set(attribute, number);
  });
}
LOCKSTEP_CUDA_API cudaMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return api([&](Runtime& rt) {
    require(value != nullptr);
    const std::uint64_t number = rt.pools.at(pool).get(attribute);
    std::memcpy(value, &number, Pool::is_int(attribute) ? sizeof(int) : sizeof number);
  });
}
/// A device reaches its own pools' memory and the host's in any case; what is set is what
/// cudaMemPoolGetAccess tells.
LOCKSTEP_CUDA_API cudaMemPoolSetAccess(void* handle, const abi::MemAccessDesc* access, std::size_t count) {
  return api([&](Runtime& rt) {
    Pool& pool = rt.pools.at(handle);
    require(count == 0 || access != nullptr);
    for (std::size_t i = 0; i < count; ++i) {
      const auto [place, flags] = access[i];
      require(flags == 0 || flags == 1 || flags == Pool::kReadWrite);
      if (place.type != PoolPlace::kDevice) continue;
      pool.set_access(rt.devices.at(place.id).number(), flags);
    }
    rt.pools.for_each_use(pool, [&](Address address) { rt.memory.reach_only(address, pool.reached_by()); });
  });
}
LOCKSTEP_CUDA_API cudaMemPoolGetAccess(int* flags, void* handle, const abi::MemLocation* place) {
  return api([&](Runtime& rt) {
    const Pool& pool = rt.pools.at(handle);
    require(flags != nullptr && place != nullptr);
    const bool device = place->type == PoolPlace::kDevice;
    const bool host_reaches = pool.place.memory_kind() != exec::MemoryKind::kDevice;
    *flags = device ? pool.access(rt.devices.at(place->id).number()) : host_reaches ? Pool::kReadWrite : 0;
  });
}
LOCKSTEP_CUDA_API cudaMemPoolTrimTo(void* pool, std::size_t bytes) {
  return api([&](Runtime& rt) { rt.pools.at(pool).trim(bytes); });
}

}  // namespace lockstep::cuda
