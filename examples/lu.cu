// LU decomposition in place, without pivoting, by blocks: for each step the diagonal block, then the blocks right of
// it and below it, then all that remains. Usage: lu [n], a multiple of 16
#include <vector>

#include "check.hpp"

constexpr int kBlock = 16;

/// One block's L and U, by one row of threads.
__global__ void diagonal(float* m, int n, int first) {
  __shared__ float tile[kBlock][kBlock + 1];
  const int t = threadIdx.x;
  for (int r = 0; r < kBlock; ++r) tile[r][t] = m[(first + r) * n + first + t];
  __syncthreads();
  for (int k = 0; k < kBlock - 1; ++k) {
    if (t > k) tile[t][k] /= tile[k][k];
    __syncthreads();
    for (int r = k + 1; t > k && r < kBlock; ++r) tile[r][t] -= tile[r][k] * tile[k][t];
    __syncthreads();
  }
  for (int r = 0; r < kBlock; ++r) m[(first + r) * n + first + t] = tile[r][t];
}

/// Half of the threads solve a block of the diagonal's rows for U, the others one of its columns for L.
__global__ void perimeter(float* m, int n, int first) {
  __shared__ float corner[kBlock][kBlock + 1], right[kBlock][kBlock + 1], below[kBlock][kBlock + 1];
  const int t = threadIdx.x % kBlock, other = first + (blockIdx.x + 1) * kBlock;
  const bool solves_right = threadIdx.x < kBlock;
  for (int r = 0; r < kBlock; ++r) {
    if (solves_right) {
      corner[r][t] = m[(first + r) * n + first + t];
      right[r][t] = m[(first + r) * n + other + t];
    } else {
      below[r][t] = m[(other + r) * n + first + t];
    }
  }
  __syncthreads();
  if (solves_right) {
    for (int r = 1; r < kBlock; ++r) {
      for (int k = 0; k < r; ++k) right[r][t] -= corner[r][k] * right[k][t];
    }
  } else {
    for (int c = 0; c < kBlock; ++c) {
      for (int k = 0; k < c; ++k) below[t][c] -= below[t][k] * corner[k][c];
      below[t][c] /= corner[c][c];
    }
  }
  __syncthreads();
  for (int r = 0; r < kBlock; ++r) {
    if (solves_right) {
      m[(first + r) * n + other + t] = right[r][t];
    } else {
      m[(other + r) * n + first + t] = below[r][t];
    }
  }
}

/// The rest of the matrix minus what this step's L and U make.
__global__ void internal(float* m, int n, int first) {
  __shared__ float right[kBlock][kBlock], below[kBlock][kBlock];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = first + (blockIdx.y + 1) * kBlock + y, column = first + (blockIdx.x + 1) * kBlock + x;
  right[y][x] = m[(first + y) * n + column];
  below[y][x] = m[row * n + first + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < kBlock; ++k) sum += below[y][k] * right[k][x];
  m[row * n + column] -= sum;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 256, kBlock);
  const std::size_t count = static_cast<std::size_t>(n) * n, bytes = count * sizeof(float);
  std::vector<float> a(count), lu(count);
  Random random;
  for (float& v : a) v = static_cast<float>(random() % 2001) / 1000.f - 1.f;
  for (int i = 0; i < n; ++i) a[i * n + i] += static_cast<float>(n);  // no pivots needed
  float* m;
  CHECK(cudaMalloc(&m, bytes));
  CHECK(cudaMemcpy(m, a.data(), bytes, cudaMemcpyHostToDevice));
  for (int first = 0; first < n; first += kBlock) {
    const int rest = (n - first) / kBlock - 1;
    diagonal<<<1, kBlock>>>(m, n, first);
    if (rest == 0) break;
    perimeter<<<rest, 2 * kBlock>>>(m, n, first);
    internal<<<dim3(rest, rest), dim3(kBlock, kBlock)>>>(m, n, first);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(lu.data(), m, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(m));
  bool passed = true;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double product = i <= j ? lu[i * n + j] : 0.0;
      for (int k = 0; k < (i <= j ? i : j + 1); ++k) product += static_cast<double>(lu[i * n + k]) * lu[k * n + j];
      passed = passed && std::fabs(product - a[i * n + j]) <= 1e-5 * n;
    }
  }
  return verdict(passed);
}
