// What the examples share: CUDA's driver API as cuda.h declares it, which comes with CUDA, and checks of its
// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

using CUresult = int;
using CUdeviceptr = std::uint64_t;
using CUhandle = unsigned long long;
struct CUmemAllocationProp {
  int type = 1, handle_types = 0;          // pinned
  int location_type = 1, location_id = 0;  // a device
  void* win32 = nullptr;
  unsigned char flags[8] = {};
};
struct CUmemAccessDesc {
  int location_type = 1, location_id = 0;  // a device
  int flags = 3;                           // reads and writes
};
struct CUmulticastObjectProp {
  unsigned devices = 0;
  std::size_t bytes = 0;
  unsigned long long handle_types = 0, flags = 0;
};
extern "C" {
CUresult cuCtxCreate_v2(void** context, unsigned flags, int device);
CUresult cuCtxDestroy_v2(void* context);
CUresult cuCtxEnablePeerAccess(void* peer, unsigned flags);
CUresult cuCtxSetCurrent(void* context);
CUresult cuDeviceCanAccessPeer(int* can, int device, int peer);
CUresult cuDeviceGet(int* device, int ordinal);
CUresult cuDeviceGetAttribute(int* value, int attribute, int device);
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
CUresult cuMemAddressReserve(CUdeviceptr* pointer, std::size_t bytes, std::size_t alignment,
                             CUdeviceptr wanted, unsigned long long flags);
CUresult cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t bytes);
CUresult cuMemCreate(CUhandle* handle, std::size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long flags);
CUresult cuMemFree_v2(CUdeviceptr pointer);
CUresult cuMemMap(CUdeviceptr pointer, std::size_t bytes, std::size_t offset, CUhandle handle,
                  unsigned long long flags);
CUresult cuMemSetAccess(CUdeviceptr pointer, std::size_t bytes, const CUmemAccessDesc* access,
                        std::size_t count);
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes);
CUresult cuMemcpyPeerAsync(CUdeviceptr to, void* to_context, CUdeviceptr from, void* from_context,
                           std::size_t bytes, void* stream);
CUresult cuModuleGetFunction(void** function, void* module, const char* name);
CUresult cuModuleLoadData(void** module, const void* image);
CUresult cuMulticastAddDevice(CUhandle object, int device);
CUresult cuMulticastBindMem(CUhandle object, std::size_t offset, CUhandle memory, std::size_t memory_offset,
                            std::size_t bytes, unsigned long long flags);
CUresult cuMulticastCreate(CUhandle* object, const CUmulticastObjectProp* properties);
CUresult cuMulticastGetGranularity(std::size_t* bytes, const CUmulticastObjectProp* properties, int option);
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
