// Steps of a five-point stencil on a square with fixed borders. Usage: stencil [n]
#include <utility>
#include <vector>

#include "check.hpp"

constexpr int kSteps = 8;

__global__ void step(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int i = y * n + x;
  const bool border = x == 0 || y == 0 || x == n - 1 || y == n - 1;
  out[i] = border ? in[i] : 0.25f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 512, 1);
  const std::size_t count = static_cast<std::size_t>(n) * n, bytes = count * sizeof(float);
  std::vector<float> field(count), next(count), found(count);
  Random random;
  for (float& v : field) v = static_cast<float>(random() % 4096);
  float *a, *b;
  CHECK(cudaMalloc(&a, bytes));
  CHECK(cudaMalloc(&b, bytes));
  CHECK(cudaMemcpy(a, field.data(), bytes, cudaMemcpyHostToDevice));
  const dim3 threads(32, 8), blocks((n + 31) / 32, (n + 7) / 8);
  for (int s = 0; s < kSteps; ++s) {
    step<<<blocks, threads>>>(a, b, n);
    std::swap(a, b);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(found.data(), a, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  for (int s = 0; s < kSteps; ++s) {
    next = field;
    for (int y = 1; y + 1 < n; ++y) {
      for (int x = 1; x + 1 < n; ++x) {
        const int i = y * n + x;  // the same order of additions: the same roundings
        next[i] = 0.25f * (field[i - 1] + field[i + 1] + field[i - n] + field[i + n]);
      }
    }
    std::swap(field, next);
  }
  return verdict(found == field);
}
