// Declarations of settings.cpp.
#pragma once

#include <cstddef>

#include "driver_types.hpp"

/// CUdevprop.
struct Properties {
  int threads_per_cta, cta[3], grid[3], shared, constant, warp, pitch, registers, clock, alignment;
};
/// cudaLaunchAttributeValue.
union AttributeValue {
  char bytes[64];
  int number;
};

extern "C" {
int cuInit(unsigned);
int cuDeviceGetCount(int*);
int cuDeviceGetName(char*, int, int);
int cuDeviceGetUuid_v2(char*, int);
int cuDeviceGetAttribute(int*, int, int);
int cuDeviceComputeCapability(int*, int*, int);
int cuDeviceGetProperties(Properties*, int);
int cuDeviceTotalMem_v2(std::size_t*, int);
int cuDeviceGetHostAtomicCapabilities(unsigned*, const int*, unsigned, int);
int cuMemGetInfo_v2(std::size_t*, std::size_t*);
int cuDevicePrimaryCtxRetain(void**, int);
int cuDevicePrimaryCtxRelease_v2(int);
int cuDevicePrimaryCtxSetFlags_v2(int, unsigned);
int cuDevicePrimaryCtxGetState(int, unsigned*, int*);
int cuCtxCreate_v2(void**, unsigned, int);
int cuCtxDestroy_v2(void*);
int cuCtxPushCurrent_v2(void*);
int cuCtxPopCurrent_v2(void**);
int cuCtxSetCurrent(void*);
int cuCtxGetCurrent(void**);
int cuCtxGetDevice(int*);
int cuCtxGetFlags(unsigned*);
int cuCtxSetFlags(unsigned);
int cuCtxGetId(void*, unsigned long long*);
int cuCtxGetLimit(std::size_t*, int);
int cuCtxGetCacheConfig(int*);
int cuCtxSetCacheConfig(int);
int cudaSetDevice(int);
int cudaDeviceReset();
int cudaDeviceGetCacheConfig(int*);
int cudaDeviceSetCacheConfig(int);
int cudaDeviceGetSharedMemConfig(int*);
int cudaDeviceSetSharedMemConfig(int);
int cudaDeviceSetLimit(int, std::size_t);
int cudaDeviceGetLimit(std::size_t*, int);
int cudaDeviceGetStreamPriorityRange(int*, int*);
int cudaRuntimeGetVersion(int*);
int cudaDriverGetVersion(int*);
int cudaInitDevice(int, unsigned, unsigned);
int cudaSetValidDevices(int*, int);
int cudaStreamCreateWithPriority(void**, unsigned, int);
int cudaStreamDestroy(void*);
int cudaStreamGetFlags(void*, unsigned*);
int cudaStreamGetId(void*, unsigned long long*);
int cudaStreamSetAttribute(void*, int, const AttributeValue*);
int cudaStreamGetAttribute(void*, int, AttributeValue*);
int cudaStreamCopyAttributes(void*, void*);
int cudaStreamAddCallback(void*, void (*)(void*, int, void*), void*, unsigned);
int cuStreamCreate(void**, unsigned);
int cuStreamDestroy_v2(void*);
int cuStreamGetFlags(void*, unsigned*);
int cuStreamGetPriority(void*, int*);
int cudaGetFuncBySymbol(void**, const void*);
int cudaGetKernel(void**, const void*);
int cudaFuncGetName(const char**, const void*);
int cudaFuncGetParamInfo(const void*, std::size_t, std::size_t*, std::size_t*);
int cudaFuncSetAttribute(const void*, int, int);
int cudaFuncSetCacheConfig(const void*, int);
int cudaFuncSetSharedMemConfig(const void*, int);
int cuFuncGetName(const char**, void*);
int cuFuncGetAttribute(int*, int, void*);
int cuFuncSetAttribute(void*, int, int);
int cuFuncSetCacheConfig(void*, int);
int cuFuncGetModule(void**, void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuModuleGetSurfRef(void**, void*, const char*);
int cuLibraryLoadData(void**, const void*, const int*, void**, unsigned, const int*, void**, unsigned);
int cuLibraryLoadFromFile(void**, const char*, const int*, void**, unsigned, const int*, void**, unsigned);
int cuLibraryUnload(void*);
int cuLibraryGetKernel(void**, void*, const char*);
int cuLibraryGetKernelCount(unsigned*, void*);
int cuLibraryEnumerateKernels(void**, unsigned, void*);
int cuLibraryGetGlobal(Word*, std::size_t*, void*, const char*);
int cuLibraryGetManaged(Word*, std::size_t*, void*, const char*);
int cuLibraryGetModule(void**, void*);
int cuKernelGetFunction(void**, void*);
int cuKernelGetLibrary(void**, void*);
int cuKernelGetName(const char**, void*);
int cuKernelGetAttribute(int*, int, void*, int);
int cuKernelSetAttribute(int, int, void*, int);
int cuKernelGetParamInfo(void*, std::size_t, std::size_t*, std::size_t*);
}
