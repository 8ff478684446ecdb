// How often each byte occurs: atomics on shared memory within a block, then on global memory.
// Usage: histogram [bytes]
#include <vector>

#include "check.hpp"

constexpr int kBins = 256;

__global__ void __launch_bounds__(kBins) histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned mine[kBins];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * kBins + threadIdx.x; i < n; i += gridDim.x * kBins) atomicAdd(&mine[in[i]], 1u);
  __syncthreads();
  if (mine[threadIdx.x] != 0) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 20, 1);
  std::vector<unsigned char> in(n);
  std::vector<unsigned> expected(kBins), found(kBins);
  Random random;
  for (unsigned char& v : in) {
    v = static_cast<unsigned char>(random() % 256 * (random() % 256) / 256);  // uneven
    ++expected[v];
  }
  unsigned char* bytes;
  unsigned* bins;
  CHECK(cudaMalloc(&bytes, n));
  CHECK(cudaMalloc(&bins, kBins * sizeof(unsigned)));
  CHECK(cudaMemcpy(bytes, in.data(), n, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(bins, 0, kBins * sizeof(unsigned)));
  histogram<<<32, kBins>>>(bytes, bins, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(found.data(), bins, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(bytes));
  CHECK(cudaFree(bins));
  return verdict(found == expected);
}
