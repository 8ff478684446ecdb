// What the programs of this experiment share: buffers with pseudo-random content, and a table of programs.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    if (const cudaError_t error = (call)) {                                             \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (false)

/// xorshift32.
struct Random {
  unsigned state = 2463534242u;
  unsigned operator()() {
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
  }
  unsigned below(unsigned n) { return (*this)() % n; }
};

template <class T>
T* device(const std::vector<T>& values) {
  T* pointer;
  CHECK(cudaMalloc(&pointer, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return pointer;
}

/// Numbers from 0 to 1.
inline float* random_floats(std::size_t count, unsigned seed = 1) {
  Random random{2463534242u ^ seed * 2654435761u};
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(random.below(65536)) / 65536;
  return device(values);
}
inline int* random_ints(std::size_t count, unsigned below, unsigned seed = 1) {
  Random random{2463534242u ^ seed * 2654435761u};
  std::vector<int> values(count);
  for (int& v : values) v = static_cast<int>(random.below(below));
  return device(values);
}
inline int blocks(int count, int threads = 128) { return (count + threads - 1) / threads; }

struct Program {
  const char* name;
  void (*run)();
};

/// main() of a table: PROGRAM NAME.
template <std::size_t N>
int run_program(const Program (&table)[N], int argc, char** argv) {
  for (const Program& program : table) {
    if (argc < 2) std::printf("%s\n", program.name);
    if (argc < 2 || std::strcmp(argv[1], program.name) != 0) continue;
    program.run();
    CHECK(cudaDeviceSynchronize());
    return 0;
  }
  return argc < 2 ? 0 : 1;
}

/// Of a product of matrices with n columns: this thread's element, by CTAs of 16 x 16 threads.
__device__ inline int place_in_product(int n) {
  return (blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x;
}

/// Its value: the sum over k, in tiles of 16 x 16 that pass through shared memory.
__device__ inline float element_of_product(const float* a, const float* b, int n, int k) {
  __shared__ float ta[16][16], tb[16][16];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int t = 0; t < k; t += 16) {
    ta[threadIdx.y][threadIdx.x] = a[y * k + t + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }
  return sum;
}
