// What nvcc brings with it, as far as the examples need it: so that a host compiler builds them, with the
// kernels from the PTX that nvcc has made of them. The kernels' bodies are compiled too, and never called.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __restrict__ __restrict

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}  // NOLINT: as CUDA's
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline const uint3 threadIdx{}, blockIdx{};
inline const uint3 blockDim{1, 1, 1}, gridDim{1, 1, 1};
inline void __syncthreads() {}
inline int __syncthreads_or(int predicate) { return predicate; }
inline void __threadfence() {}
template <class T>
T atomicAdd(T* to, T value) {
  const T old = *to;
  *to = old + value;
  return old;
}

inline int atomicMax(int* to, int value) {
  const int old = *to;
  if (value > old) *to = value;
  return old;
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int) {
  return value;
}
template <class T>
T min(T a, T b) {
  return b < a ? b : a;
}
inline int __float_as_int(float value) {
  int bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

using cudaError_t = int;
using cudaStream_t = void*;
inline constexpr cudaError_t cudaSuccess = 0;
inline constexpr int cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3;
inline constexpr int cudaDevAttrMultiProcessorCount = 16;

extern "C" {
const char* cudaGetErrorString(int error);
int cudaGetDeviceCount(int* count);
int cudaGetDevice(int* device);
int cudaSetDevice(int device);
int cudaDeviceGetAttribute(int* value, int attribute, int device);
int cudaDeviceSynchronize();
int cudaGetLastError();
int cudaMalloc(void** memory, std::size_t bytes);
int cudaFree(void* memory);
int cudaMemset(void* memory, int value, std::size_t bytes);
int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);
int cudaStreamSynchronize(cudaStream_t stream);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* groups, const void* kernel, int threads,
                                                  std::size_t shared);
int cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                     cudaStream_t stream);
}
template <class T>
int cudaMalloc(T** memory, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(memory), bytes);
}
