// Streaming: a = b + s * c over managed arrays, each element once (1048576: 12 MB). With one
// block the pages are asked for strictly one after another. Usage: triad [n [blocks]]
#include "../check.hpp"

__global__ void triad(float* a, const float* b, const float* c, float s, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = b[i] + s * c[i];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 20, 1), blocks = argc > 2 ? std::atoi(argv[2]) : (n + 255) / 256;
  float *a, *b, *c;
  CHECK(cudaMallocManaged(&a, n * sizeof(float)));
  CHECK(cudaMallocManaged(&b, n * sizeof(float)));
  CHECK(cudaMallocManaged(&c, n * sizeof(float)));
  for (int i = 0; i < n; ++i) {
    b[i] = static_cast<float>(i % 1000);
    c[i] = static_cast<float>(i % 7);
  }
  triad<<<blocks, 256>>>(a, b, c, 3.0f, n);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  bool good = true;
  for (int i = 0; i < n; ++i) good = good && a[i] == b[i] + 3.0f * c[i];
  return verdict(good);
}
