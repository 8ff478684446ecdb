// What entries.cpp calls, without the headers of CUDA: structures of CUDA 13, x86-64.
#pragma once

#include <cstddef>
#include <cstdint>

#include "driver_types.hpp"

struct Extent {
  std::size_t width, height, depth;
};
struct Place {
  int type, id;
};
struct Array3D {
  std::size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
struct Operand {  // of a batch
  int type;
  void* pointer;
  std::size_t row, layer;
  Place hint;
};
struct BatchCopy {
  Operand from, to;
  Extent extent;
  int order;
  unsigned flags;
};
struct Resource {  // cudaResourceDesc
  int type;
  void* array;
  std::byte rest[124];
  unsigned flags;
};
struct Texture {  // cudaTextureDesc
  int address[3], filter, read, srgb;
  float border[4];
  int normalised;
  unsigned anisotropy;
  int mipmap_filter;
  float bias, least, most;
  int more[2];
};
struct DriverTexture {
  int address[3], filter;
  unsigned flags, anisotropy;
  int mipmap_filter;
  float bias, least, most, border[4];
  int more[12];
};
union Attribute {
  char bytes[64];
  int number;
};
static_assert(sizeof(Resource) == 144 && sizeof(Texture) == 72 && sizeof(BatchCopy) == 112 &&
              sizeof(DriverTexture) == 104);

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuDevicePrimaryCtxRelease(int);
int cuCtxSetCurrent(void*);
int cuCtxGetId(void*, Word*);
int cuCtxGetApiVersion(void*, unsigned*);
int cuCtxCreate_v3(void**, const void*, int, unsigned, int);
int cuCtxDestroy_v2(void*);
int cuCtxSynchronize_v2(void*);
int cuDeviceGetByPCIBusId(int*, const char*);
int cuDeviceGetPCIBusId(char*, int, int);
int cuLibraryLoadData(void**, const void*, const int*, void**, unsigned, const int*, void**, unsigned);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunctionCount(unsigned*, void*);
int cuModuleGetLoadingMode(int*);
int cuModuleGetTexRef(void**, void*, const char*);
int cuFuncGetParamInfo(void*, std::size_t, std::size_t*, std::size_t*);
int cuFuncGetName(const char**, void*);
int cuMemAlloc_v2(Word*, std::size_t);
int cuMemAlloc(unsigned*, unsigned);
int cuMemcpyDtoH_v2(void*, Word, std::size_t);
int cuMemsetD32_v2(Word, unsigned, std::size_t);
int cuMemsetD2D16Async(Word, std::size_t, unsigned short, std::size_t, std::size_t, void*);
int cuMemcpy3D_v2(const DriverCopy*);
int cuMemcpyHtoA_v2(void*, std::size_t, const void*, std::size_t);
int cuMemcpyAtoD_v2(Word, void*, std::size_t, std::size_t);
int cuMemcpyAtoA_v2(void*, std::size_t, void*, std::size_t, std::size_t);
int cuMemcpyDtoHAsync_v2_ptsz(void*, Word, std::size_t, void*);
int cuArray3DCreate_v2(void**, const Array3D*);
int cuArray3DGetDescriptor_v2(Array3D*, void*);
int cuArrayGetPlane(void**, void*, unsigned);
int cuMemAllocManaged(Word*, std::size_t, unsigned);
int cuMemAdvise(Word, std::size_t, int, int);
int cuMemAdvise_v2(Word, std::size_t, int, Place);
int cuMemPrefetchAsync_v2(Word, std::size_t, Place, unsigned, void*);
int cuMemRangeGetAttribute(void*, std::size_t, int, Word, std::size_t);
int cuStreamCreate(void**, unsigned);
int cuStreamSynchronize(void*);
int cuStreamQuery(void*);
int cuStreamWaitValue32(void*, Word, unsigned, unsigned);
int cuStreamWaitValue32_v2(void*, Word, unsigned, unsigned);
int cuStreamWaitValue64_v2(void*, Word, Word, unsigned);
int cuStreamWriteValue32_v2(void*, Word, unsigned, unsigned);
int cuStreamWriteValue64_v2(void*, Word, Word, unsigned);
int cuTexObjectGetTextureDesc(DriverTexture*, Word);
int cuGetProcAddress_v2(const char*, void**, int, Word, int*);
int cuGreenCtxCreate(void**, void*, int, unsigned);
int cuGetExportTable(const void**, const void*);
int cudaMalloc(void**, std::size_t);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaHostAlloc(void**, std::size_t, unsigned);
int cudaMallocMipmappedArray(void**, const int*, Extent, unsigned, unsigned);
int cudaGetMipmappedArrayLevel(void**, const void*, unsigned);
int cudaFreeMipmappedArray(void*);
int cudaArrayGetInfo(int*, Extent*, unsigned*, void*);
int cudaMallocArray(void**, const int*, std::size_t, std::size_t, unsigned);
int cudaMemcpy2DToArray(void*, std::size_t, std::size_t, const void*, std::size_t, std::size_t, std::size_t,
                        int);
int cudaMemcpy2DFromArray(void*, std::size_t, void*, std::size_t, std::size_t, std::size_t, std::size_t, int);
int cudaMemcpy2DArrayToArray(void*, std::size_t, std::size_t, const void*, std::size_t, std::size_t,
                             std::size_t, std::size_t, int);
int cudaMemcpy3DBatchAsync(std::size_t, const BatchCopy*, Word, void*);
int cudaCreateTextureObject(Word*, const Resource*, const Texture*, const void*);
int cudaGetTextureObjectResourceDesc(Resource*, Word);
int cudaGetTextureObjectTextureDesc(Texture*, Word);
int cudaDestroyTextureObject(Word);
int cudaStreamSetAttribute(void*, int, const Attribute*);
int cudaStreamGetAttribute(void*, int, Attribute*);
int cudaStreamCopyAttributes(void*, void*);
int cudaLibraryGetKernelCount(unsigned*, void*);
int cudaLibraryEnumerateKernels(void**, unsigned, void*);
int cudaLibraryGetGlobal(void**, std::size_t*, void*, const char*);
int cudaLibraryGetManaged(void**, std::size_t*, void*, const char*);
int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t*, const void*, int, int);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, std::size_t);
int cudaDeviceGetSharedMemConfig(int*);
int cudaGLSetGLDevice(int);
}
