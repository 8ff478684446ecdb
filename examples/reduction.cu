// The sum of an array: registers, then shuffles within warps, then shared memory, then one more kernel.
// Usage: reduction [elements]
#include <vector>

#include "check.hpp"

constexpr int kThreads = 256;
constexpr int kBlocks = 64;

__device__ unsigned long long sum_of_warp(unsigned long long v) {
  for (int distance = 16; distance > 0; distance /= 2) v += __shfl_down_sync(0xffffffffu, v, distance);
  return v;
}

template <class Value>
__global__ void __launch_bounds__(kThreads) reduce(const Value* in, unsigned long long* out, int n) {
  __shared__ unsigned long long sums[kThreads / 32];
  unsigned long long sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) sum += in[i];
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = sum_of_warp(threadIdx.x < kThreads / 32 ? sums[threadIdx.x] : 0);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 20, 1);
  std::vector<unsigned> values(n);
  unsigned long long expected = 0, sum = 0;
  Random random;
  for (unsigned& v : values) expected += v = random();
  unsigned* in;
  unsigned long long *partial, *out;
  CHECK(cudaMalloc(&in, n * sizeof(unsigned)));
  CHECK(cudaMalloc(&partial, kBlocks * sizeof(unsigned long long)));
  CHECK(cudaMalloc(&out, sizeof(unsigned long long)));
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
  reduce<<<kBlocks, kThreads>>>(in, partial, n);
  reduce<<<1, kThreads>>>(partial, out, kBlocks);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in));
  CHECK(cudaFree(partial));
  CHECK(cudaFree(out));
  return verdict(sum == expected);
}
