// Memory pools of the driver API: the runtime's.
#include "cuda/driver.hpp"

namespace lockstep::cuda {

LOCKSTEP_CUDA_API cuMemAllocFromPoolAsync(DevicePointer* p, std::size_t bytes, void* pool, void* stream) {
  return driver([&] {
    return cudaMallocFromPoolAsync(reinterpret_cast<void**>(p), bytes, pool,
                                   static_cast<abi::Stream>(stream));
  });
}
LOCKSTEP_CUDA_API cuDeviceGetDefaultMemPool(void** pool, int device) {
  return driver([&] { return cudaDeviceGetDefaultMemPool(pool, device); });
}
LOCKSTEP_CUDA_API cuDeviceGetMemPool(void** pool, int device) {
  return driver([&] { return cudaDeviceGetMemPool(pool, device); });
}
LOCKSTEP_CUDA_API cuDeviceSetMemPool(int device, void* pool) {
  return driver([&] { return cudaDeviceSetMemPool(device, pool); });
}
LOCKSTEP_CUDA_API cuMemGetDefaultMemPool(void** pool, const abi::MemLocation* place, int kind) {
  return driver([&] { return cudaMemGetDefaultMemPool(pool, place, kind); });
}
LOCKSTEP_CUDA_API cuMemGetMemPool(void** pool, const abi::MemLocation* place, int kind) {
  return driver([&] { return cudaMemGetMemPool(pool, place, kind); });
}
LOCKSTEP_CUDA_API cuMemSetMemPool(const abi::MemLocation* place, int kind, void* pool) {
  return driver([&] { return cudaMemSetMemPool(place, kind, pool); });
}
LOCKSTEP_CUDA_API cuMemPoolCreate(void** pool, const abi::MemPoolProps* properties) {
  return driver([&] { return cudaMemPoolCreate(pool, properties); });
}
LOCKSTEP_CUDA_API cuMemPoolDestroy(void* pool) {
  return driver([&] { return cudaMemPoolDestroy(pool); });
}
LOCKSTEP_CUDA_API cuMemPoolSetAttribute(void* pool, int attribute, const void* value) {
  return driver([&] { return cudaMemPoolSetAttribute(pool, attribute, value); });
}
LOCKSTEP_CUDA_API cuMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return driver([&] { return cudaMemPoolGetAttribute(pool, attribute, value); });
}
LOCKSTEP_CUDA_API cuMemPoolSetAccess(void* pool, const abi::MemAccessDesc* access, std::size_t count) {
  return driver([&] { return cudaMemPoolSetAccess(pool, access, count); });
}
LOCKSTEP_CUDA_API cuMemPoolGetAccess(int* flags, void* pool, const abi::MemLocation* place) {
  return driver([&] { return cudaMemPoolGetAccess(flags, pool, place); });
}
LOCKSTEP_CUDA_API cuMemPoolTrimTo(void* pool, std::size_t bytes) {
  return driver([&] { return cudaMemPoolTrimTo(pool, bytes); });
}

}  // namespace lockstep::cuda
