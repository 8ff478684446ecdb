// C = A B in single precision with tiles in shared memory. Usage: sgemm [n], a multiple of 32
#include <vector>

#include "check.hpp"

constexpr int kTile = 32;
constexpr int kRows = 8;  // threads in y; each computes kTile / kRows elements

__global__ void __launch_bounds__(kTile* kRows) sgemm(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int x = threadIdx.x, column = blockIdx.x * kTile + x;
  float sums[kTile / kRows] = {};
  for (int k = 0; k < n; k += kTile) {
    for (int y = threadIdx.y; y < kTile; y += kRows) {
      tile_a[y][x] = a[(blockIdx.y * kTile + y) * n + k + x];
      tile_b[y][x] = b[(k + y) * n + column];
    }
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      for (int r = 0; r < kTile / kRows; ++r) sums[r] += tile_a[threadIdx.y + r * kRows][i] * tile_b[i][x];
    }
    __syncthreads();
  }
  for (int r = 0; r < kTile / kRows; ++r)
    c[(blockIdx.y * kTile + threadIdx.y + r * kRows) * n + column] = sums[r];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 256, kTile);
  const std::size_t count = static_cast<std::size_t>(n) * n, bytes = count * sizeof(float);
  std::vector<float> a(count), b(count), c(count);
  Random random;
  for (float& v : a) v = static_cast<float>(random() % 2001) / 1000.f - 1.f;
  for (float& v : b) v = static_cast<float>(random() % 2001) / 1000.f - 1.f;
  float *da, *db, *dc;
  CHECK(cudaMalloc(&da, bytes));
  CHECK(cudaMalloc(&db, bytes));
  CHECK(cudaMalloc(&dc, bytes));
  CHECK(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));
  sgemm<<<dim3(n / kTile, n / kTile), dim3(kTile, kRows)>>>(da, db, dc, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost));
  bool passed = true;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += static_cast<double>(a[i * n + k]) * b[k * n + j];
      // n roundings of values up to about n.
      passed = passed && std::fabs(sum - c[i * n + j]) <= 1e-7 * n * std::sqrt(static_cast<double>(n)) + 1e-5;
    }
  }
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
  return verdict(passed);
}
