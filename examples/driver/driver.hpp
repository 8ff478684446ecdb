// What the examples share: CUDA's driver API as cuda.h declares it, which comes with CUDA, and checks of its
// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

using CUresult = int;
using CUdeviceptr = std::uint64_t;
extern "C" {
CUresult cuCtxCreate_v2(void** context, unsigned flags, int device);
CUresult cuCtxDestroy_v2(void* context);
CUresult cuCtxEnablePeerAccess(void* peer, unsigned flags);
CUresult cuCtxSetCurrent(void* context);
CUresult cuDeviceCanAccessPeer(int* can, int device, int peer);
CUresult cuDeviceGet(int* device, int ordinal);
CUresult cuDeviceGetCount(int* count);
CUresult cuEventCreate(void** event, unsigned flags);
CUresult cuEventElapsedTime(float* milliseconds, void* from, void* to);
CUresult cuEventRecord(void* event, void* stream);
CUresult cuEventSynchronize(void* event);
CUresult cuGetErrorName(CUresult error, const char** name);
CUresult cuInit(unsigned flags);
CUresult cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream,
                        void** parameters, void** extra);
CUresult cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t bytes);
CUresult cuMemFree_v2(CUdeviceptr pointer);
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes);
CUresult cuMemcpyPeerAsync(CUdeviceptr to, void* to_context, CUdeviceptr from, void* from_context,
                           std::size_t bytes, void* stream);
CUresult cuModuleGetFunction(void** function, void* module, const char* name);
CUresult cuModuleLoadData(void** module, const void* image);
CUresult cuStreamCreate(void** stream, unsigned flags);
CUresult cuStreamWaitEvent(void* stream, void* event, unsigned flags);
}

constexpr unsigned kNonBlocking = 1;  // a stream that has nothing to do with the default stream

[[noreturn]] inline void fail(const char* why) {
  std::printf("%s\nFAIL\n", why);
  std::exit(1);
}

inline void check(CUresult result) {
  if (result == 0) return;
  const char* name = "an error without a name";
  cuGetErrorName(result, &name);
  fail(name);
}
