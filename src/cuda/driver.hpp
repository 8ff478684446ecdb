// The driver API (cu...) on top of the runtime: contexts are names for devices, modules and functions
// the runtime's, result codes the same numbers but for a few. CUDA driver API 13, x86-64.
#pragma once

#include <bit>

#include "cuda/api.hpp"

namespace lockstep::cuda {

using DevicePointer = unsigned long long;  // CUdeviceptr

/// CUmemorytype.
struct MemoryType {
  enum { kHost = 1, kDevice, kArray, kUnified };
};

[[nodiscard]] inline void* pointer_to(DevicePointer address) { return reinterpret_cast<void*>(address); }

/// A module by the handle that the program has. Throws ApiError(InvalidResourceHandle).
[[nodiscard]] inline Module& module_of(Runtime& rt, void* handle) {
  auto* module = static_cast<Module*>(handle);
  require(rt.modules.contains(module), Status::kErrorInvalidResourceHandle);
  return *module;
}

/// The driver's code of a result of the runtime.
[[nodiscard]] int driver_result(int status);

/// enum CUctx_flags: at most one way to wait, and none that cuda.h does not have.
inline void require_context_flags(unsigned flags) {
  constexpr unsigned kSchedule = 7, kMask = 0xff;
  require((flags & ~kMask) == 0 && std::popcount(flags & kSchedule) <= 1);
}

/// Runs `call()`, which gives a result of the runtime, without touching the thread's last runtime error.
template <class Call>
int driver(Call&& call) noexcept {
  const Status before = peek_last_error();
  const int status = call();
  (void)finish(before);
  return driver_result(status);
}

/// Runs `body(runtime)`, see api().
template <class Body>
int driver_api(Body&& body) noexcept {
  return driver([&] { return api(body); });
}

/// A kernel's parameters as one buffer, and where in it each of its arguments is.
struct ArgumentBuffer {
  std::vector<std::byte> bytes;
  std::vector<void*> arguments;
};
/// What `extra` gives: pairs of a key and a value up to a null key (cuLaunchKernel). Drivers take a buffer
/// that ends within the last parameter, so that programs with large ones (NCCL's have 4 KB) pass only what
/// they use; the rest is undefined, zero here.
[[nodiscard]] ArgumentBuffer arguments_in_buffer(Runtime& rt, const void* f, void** extra);

/// Until a multicast object has all of its devices, which another thread of the program adds. Throws ApiError
/// where it has no other.
void wait_for_team(Runtime& rt, MulticastObjects::Handle object);

}  // namespace lockstep::cuda

// Functions of the runtime that functions of the driver API call.
extern "C" {
int cudaGetDeviceCount(int*);
int cudaDeviceGetAttribute(int*, int, int);
int cudaDeviceCanAccessPeer(int*, int, int);
int cudaDeviceGetPCIBusId(char*, int, int);
int cudaDeviceSynchronize();
int cudaDeviceReset();
int cudaDeviceSetLimit(int, std::size_t);
int cudaDeviceGetLimit(std::size_t*, int);
int cudaDeviceGetStreamPriorityRange(int*, int*);
int cudaDriverGetVersion(int*);
int cudaFuncGetAttributes(lockstep::cuda::abi::FuncAttributes*, const void*);
int cudaFuncSetAttribute(const void*, int, int);
int cudaFuncSetCacheConfig(const void*, int);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, std::size_t);
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int*, const void*, int, std::size_t, unsigned);
int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t*, const void*, int, int);
int cudaOccupancyMaxActiveClusters(int*, const void*, const lockstep::cuda::abi::LaunchConfig*);
int cudaOccupancyMaxPotentialClusterSize(int*, const void*, const lockstep::cuda::abi::LaunchConfig*);
int cudaLaunchKernelExC(const lockstep::cuda::abi::LaunchConfig*, const void*, void**);
int cudaLaunchHostFunc(lockstep::cuda::abi::Stream, lockstep::cuda::abi::HostFn, void*);
int cudaMalloc(void**, std::size_t);
int cudaFree(void*);
int cudaMallocManaged(void**, std::size_t, unsigned);
int cudaMallocPitch(void**, std::size_t*, std::size_t, std::size_t);
int cudaHostAlloc(void**, std::size_t, unsigned);
int cudaFreeHost(void*);
int cudaHostRegister(void*, std::size_t, unsigned);
int cudaHostUnregister(void*);
int cudaHostGetDevicePointer(void**, void*, unsigned);
int cudaMallocAsync(void**, std::size_t, lockstep::cuda::abi::Stream);
int cudaFreeAsync(void*, lockstep::cuda::abi::Stream);
int cudaMallocFromPoolAsync(void**, std::size_t, void*, lockstep::cuda::abi::Stream);
int cudaDeviceGetDefaultMemPool(void**, int);
int cudaDeviceGetMemPool(void**, int);
int cudaDeviceSetMemPool(int, void*);
int cudaMemGetDefaultMemPool(void**, const lockstep::cuda::abi::MemLocation*, int);
int cudaMemGetMemPool(void**, const lockstep::cuda::abi::MemLocation*, int);
int cudaMemSetMemPool(const lockstep::cuda::abi::MemLocation*, int, void*);
int cudaMemPoolCreate(void**, const lockstep::cuda::abi::MemPoolProps*);
int cudaMemPoolDestroy(void*);
int cudaMemPoolSetAttribute(void*, int, const void*);
int cudaMemPoolGetAttribute(void*, int, void*);
int cudaMemPoolSetAccess(void*, const lockstep::cuda::abi::MemAccessDesc*, std::size_t);
int cudaMemPoolGetAccess(int*, void*, const lockstep::cuda::abi::MemLocation*);
int cudaMemPoolTrimTo(void*, std::size_t);
int cudaMemGetInfo(std::size_t*, std::size_t*);
int cudaMemcpyAsync(void*, const void*, std::size_t, int, lockstep::cuda::abi::Stream);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemcpyBatchAsync(void* const*, const void* const*, const std::size_t*, std::size_t, const void*,
                         const std::size_t*, std::size_t, lockstep::cuda::abi::Stream);
int cudaStreamCreateWithPriority(lockstep::cuda::abi::Stream*, unsigned, int);
int cudaStreamDestroy(lockstep::cuda::abi::Stream);
int cudaStreamSynchronize(lockstep::cuda::abi::Stream);
int cudaStreamQuery(lockstep::cuda::abi::Stream);
int cudaStreamWaitEvent(lockstep::cuda::abi::Stream, lockstep::cuda::abi::Event, unsigned);
int cudaStreamGetPriority(lockstep::cuda::abi::Stream, int*);
int cudaStreamGetFlags(lockstep::cuda::abi::Stream, unsigned*);
int cudaStreamGetDevice(lockstep::cuda::abi::Stream, int*);
int cudaStreamGetId(lockstep::cuda::abi::Stream, unsigned long long*);
int cudaStreamIsCapturing(lockstep::cuda::abi::Stream, int*);
int cudaStreamAddCallback(lockstep::cuda::abi::Stream, lockstep::cuda::abi::StreamCallback, void*, unsigned);
int cudaStreamGetAttribute(lockstep::cuda::abi::Stream, int, lockstep::cuda::abi::LaunchAttribute::Value*);
int cudaStreamSetAttribute(lockstep::cuda::abi::Stream, int,
                           const lockstep::cuda::abi::LaunchAttribute::Value*);
int cudaStreamCopyAttributes(lockstep::cuda::abi::Stream, lockstep::cuda::abi::Stream);
int cudaStreamAttachMemAsync(lockstep::cuda::abi::Stream, void*, std::size_t, unsigned);
int cudaEventRecordWithFlags(lockstep::cuda::abi::Event, lockstep::cuda::abi::Stream, unsigned);
int cudaEventCreateWithFlags(lockstep::cuda::abi::Event*, unsigned);
int cudaEventDestroy(lockstep::cuda::abi::Event);
int cudaEventRecord(lockstep::cuda::abi::Event, lockstep::cuda::abi::Stream);
int cudaEventSynchronize(lockstep::cuda::abi::Event);
int cudaEventQuery(lockstep::cuda::abi::Event);
int cudaEventElapsedTime(float*, lockstep::cuda::abi::Event, lockstep::cuda::abi::Event);
int cudaCreateTextureObject(unsigned long long*, const lockstep::cuda::abi::ResourceDesc*,
                            const lockstep::cuda::abi::TextureDesc*, const void*);
int cudaDestroyTextureObject(unsigned long long);
int cudaMallocArray(void**, const lockstep::cuda::abi::ChannelFormatDesc*, std::size_t, std::size_t,
                    unsigned);
int cudaFreeArray(void*);
}
