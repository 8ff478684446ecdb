// Kernels that read, write or copy memory, each lane 16 bytes at a time, each CTA over the whole of it in the
// grid's steps. nvcc has made sweeps.ptx of it: nvcc -std=c++17 -arch=compute_75 -ptx sweeps.cu
#include <cstddef>

namespace {

__device__ std::size_t first() { return blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; }
__device__ std::size_t step() { return gridDim.x * std::size_t{blockDim.x}; }

}  // namespace

/// What it reads is 0: nothing is written.
extern "C" __global__ void sweep_read(const float4* from, std::size_t count, float* found) {
  float4 sum = make_float4(0, 0, 0, 0);
  for (std::size_t i = first(); i < count; i += step()) {
    const float4 value = from[i];
    sum.x += value.x;
    sum.y += value.y;
    sum.z += value.z;
    sum.w += value.w;
  }
  if (sum.x + sum.y + sum.z + sum.w != 0) *found = sum.x;
}

extern "C" __global__ void sweep_write(float4* to, std::size_t count, float value) {
  for (std::size_t i = first(); i < count; i += step()) to[i] = make_float4(value, value, value, value);
}

extern "C" __global__ void sweep_copy(const float4* __restrict__ from, float4* __restrict__ to,
                                      std::size_t count) {
  for (std::size_t i = first(); i < count; i += step()) to[i] = from[i];
}
