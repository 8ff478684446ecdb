// Forced include: what programs written before CUDA 13 use and CUDA 13 no longer has, in terms of what it has.
// cudaThread* are cudaDevice*; a texture reference is a device variable with a texture object; fields that
// cudaDeviceProp has lost are others of about that meaning, which the programs only print.
#pragma once

#if defined(__CUDACC__)

#include <cuda_runtime.h>
#include <limits.h>  // came with headers that no longer bring it
#include <string.h>

#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit cudaDeviceReset
#define clockRate l2CacheSize
#define memoryClockRate memoryBusWidth
#define deviceOverlap asyncEngineCount

/// Stands in for texture<>; `texture<float, 1, cudaReadModeElementType> t;` declares a device variable.
template <class Texel, int Dimensions = 1, cudaTextureReadMode Mode = cudaReadModeElementType>
struct TextureReference {
  cudaTextureObject_t object;
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
};
#define texture static __device__ TextureReference

template <class T, int N, cudaTextureReadMode M>
cudaError_t bindTextureResource(TextureReference<T, N, M>& reference, const cudaResourceDesc& resource) {
  cudaTextureDesc texture_description;
  memset(&texture_description, 0, sizeof texture_description);
  texture_description.readMode = M;
  texture_description.filterMode = reference.filterMode;
  texture_description.normalizedCoords = reference.normalized;
  for (int i = 0; i < 3; ++i) texture_description.addressMode[i] = reference.addressMode[i];
  cudaTextureObject_t object;
  cudaError_t error = cudaCreateTextureObject(&object, &resource, &texture_description, NULL);
  if (error != cudaSuccess) return error;
  return cudaMemcpyToSymbol(reference, &object, sizeof object);
}

template <class T, int N, cudaTextureReadMode M>
cudaError_t cudaBindTexture(size_t* offset, TextureReference<T, N, M>& reference, const void* memory,
                            const cudaChannelFormatDesc& format, size_t bytes = UINT_MAX) {
  if (offset != NULL) *offset = 0;
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<void*>(memory);
  resource.res.linear.desc = format;
  resource.res.linear.sizeInBytes = bytes;
  return bindTextureResource(reference, resource);
}
template <class T, int N, cudaTextureReadMode M>
cudaError_t cudaBindTexture(size_t* offset, TextureReference<T, N, M>& reference, const void* memory,
                            size_t bytes = UINT_MAX) {
  return cudaBindTexture(offset, reference, memory, cudaCreateChannelDesc<T>(), bytes);
}
template <class T, int N, cudaTextureReadMode M>
cudaError_t cudaBindTexture(size_t* offset, TextureReference<T, N, M>* reference, const void* memory,
                            const cudaChannelFormatDesc* format, size_t bytes = UINT_MAX) {
  return cudaBindTexture(offset, *reference, memory, *format, bytes);
}
template <class T, int N, cudaTextureReadMode M>
cudaError_t cudaBindTextureToArray(TextureReference<T, N, M>& reference, cudaArray_const_t array,
                                   const cudaChannelFormatDesc& = cudaChannelFormatDesc()) {
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = const_cast<cudaArray_t>(array);
  return bindTextureResource(reference, resource);
}
template <class T, int N, cudaTextureReadMode M>
cudaError_t cudaUnbindTexture(TextureReference<T, N, M>& reference) {
  cudaTextureObject_t object;
  cudaError_t error = cudaMemcpyFromSymbol(&object, reference, sizeof object);
  if (error != cudaSuccess || object == 0) return error;  // unbinding what is not bound was no error
  const cudaTextureObject_t none = 0;
  error = cudaMemcpyToSymbol(reference, &none, sizeof none);
  return error != cudaSuccess ? error : cudaDestroyTextureObject(object);
}

template <class T, cudaTextureReadMode M>
__device__ T tex1Dfetch(TextureReference<T, 1, M> reference, int at) {
  return tex1Dfetch<T>(reference.object, at);
}
template <class T, cudaTextureReadMode M>
__device__ T tex2D(TextureReference<T, 2, M> reference, float x, float y) {
  return tex2D<T>(reference.object, x, y);
}

// Where managed memory is to be: a device's number, or cudaCpuDeviceId.
inline cudaMemLocation locationOf(int device) {
  cudaMemLocation location;
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}
inline cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise advice, int device) {
  return cudaMemAdvise(memory, bytes, advice, locationOf(device));
}
inline cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, int device, cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(memory, bytes, locationOf(device), 0, stream);
}

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

#if defined(LOCKSTEP_OLD_CUB)  // for programs that use the toolkit's CUB by functions which it no longer has
namespace cub {
__device__ __forceinline__ unsigned LaneId() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
__device__ __forceinline__ unsigned LaneMaskLt() {
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
}
}  // namespace cub
#endif
#endif
