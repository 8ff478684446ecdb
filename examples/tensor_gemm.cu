// C = A B on tensor cores: half inputs, float sums; four warps a block, each one tile of 16 x 16.
// Usage: tensor_gemm [n], a multiple of 64
#include <cuda_fp16.h>
#include <mma.h>

#include <vector>

#include "check.hpp"

constexpr int kTile = 16;
constexpr int kWarps = 4;

__global__ void __launch_bounds__(32 * kWarps) tensor_gemm(const half* a, const half* b, float* c, int n) {
  using namespace nvcuda::wmma;
  const int row = blockIdx.y * kTile, column = (blockIdx.x * kWarps + threadIdx.x / 32) * kTile;
  fragment<matrix_a, kTile, kTile, kTile, half, row_major> fa;
  fragment<matrix_b, kTile, kTile, kTile, half, row_major> fb;
  fragment<accumulator, kTile, kTile, kTile, float> fc;
  fill_fragment(fc, 0.f);
  for (int k = 0; k < n; k += kTile) {
    load_matrix_sync(fa, a + row * n + k, n);
    load_matrix_sync(fb, b + k * n + column, n);
    mma_sync(fc, fa, fb, fc);
  }
  store_matrix_sync(c + row * n + column, fc, n, mem_row_major);
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 128, kTile * kWarps);
  const std::size_t count = static_cast<std::size_t>(n) * n;
  std::vector<half> a(count), b(count);
  std::vector<int> ia(count), ib(count);
  std::vector<float> c(count);
  Random random;
  for (std::size_t i = 0; i < count; ++i) {
    ia[i] = static_cast<int>(random() % 9) - 4;
    ib[i] = static_cast<int>(random() % 9) - 4;
    a[i] = __float2half(static_cast<float>(ia[i]));
    b[i] = __float2half(static_cast<float>(ib[i]));
  }
  half *da, *db;
  float* dc;
  CHECK(cudaMalloc(&da, count * sizeof(half)));
  CHECK(cudaMalloc(&db, count * sizeof(half)));
  CHECK(cudaMalloc(&dc, count * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), count * sizeof(half), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), count * sizeof(half), cudaMemcpyHostToDevice));
  tensor_gemm<<<dim3(n / kTile / kWarps, n / kTile), 32 * kWarps>>>(da, db, dc, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), dc, count * sizeof(float), cudaMemcpyDeviceToHost));
  // C x = A (B x) for a random x: small integers, exact in half, float and double.
  std::vector<double> x(n), bx(n);
  for (double& v : x) v = random() % 1000 + 1;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) bx[i] += ib[i * n + j] * x[j];
  }
  bool passed = true;
  for (int i = 0; i < n; ++i) {
    double expected = 0, found = 0;
    for (int j = 0; j < n; ++j) {
      expected += ia[i * n + j] * bx[j];
      found += c[i * n + j] * x[j];
    }
    passed = passed && found == expected;
  }
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
  return verdict(passed);
}
