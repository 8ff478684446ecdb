// Panels of factorisations, by one CTA of 256 threads each.
#pragma once

#include "libraries/blas/factor_arguments.hpp"
#include "libraries/blas/kernels/numbers.cuh"

namespace lockstep::libraries::blas {

constexpr int kThreads = 256, kPanel = 32;

template <class T>
__device__ inline T real_part(T x) {
  return x;
}
template <class T>
__device__ inline T real_part(Complex<T> x) {
  return x.re;
}

template <class T>
__device__ T* matrix_at(void* base, int by_pointers, long long stride, long long batch) {
  return by_pointers ? static_cast<T* const*>(base)[batch] + stride : static_cast<T*>(base) + batch * stride;
}

/// The row of the column's element of the largest magnitude; the first of equals.
template <class T>
__device__ int find_pivot(const T* column, int first, int rows) {
  using Real = typename RealOf<T>::Type;
  __shared__ Real sizes[kThreads];
  __shared__ int places[kThreads];
  Real size = -1;
  int place = first;
#pragma unroll 1
  for (int i = first + threadIdx.x; i < rows; i += kThreads)
    if (magnitude(column[i]) > size) size = magnitude(column[i]), place = i;
  sizes[threadIdx.x] = size, places[threadIdx.x] = place;
  __syncthreads();
#pragma unroll 1
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const int other = threadIdx.x + half;
      const bool better = sizes[other] > sizes[threadIdx.x] ||
                          (sizes[other] == sizes[threadIdx.x] && places[other] < places[threadIdx.x]);
      if (better) sizes[threadIdx.x] = sizes[other], places[threadIdx.x] = places[other];
    }
    __syncthreads();
  }
  place = places[0];
  __syncthreads();
  return place;
}

/// LU with row exchanges inside of the panel.
template <class T>
__device__ void lu_panel(const PanelArguments& p) {
  __shared__ T pivot_row[kPanel];
  const long long batch = blockIdx.x;
  T* const a = matrix_at<T>(p.a, p.by_pointers, p.stride_a, batch);
  int zero_pivot = 0;
#pragma unroll 1
  for (int j = 0; j < p.columns && j < p.rows; ++j) {
    const int pivot = p.pivots != nullptr ? find_pivot(a + j * p.lda, j, p.rows) : j;
    if (threadIdx.x == 0 && p.pivots != nullptr)
      p.pivots[batch * p.stride_pivots + p.first + j] = p.first + pivot + 1;
    if (threadIdx.x < p.columns) {
      T& upper = a[j + threadIdx.x * p.lda];
      T& lower = a[pivot + threadIdx.x * p.lda];
      const T kept = lower;
      lower = upper;
      upper = kept;
      pivot_row[threadIdx.x] = kept;
    }
    __syncthreads();
    const T divisor = pivot_row[j];
    if (is_zero(divisor) && zero_pivot == 0) zero_pivot = p.first + j + 1;
#pragma unroll 1
    for (int i = j + 1 + threadIdx.x; i < p.rows; i += kThreads) {
      T factor = a[i + j * p.lda];
      if (!is_zero(divisor)) a[i + j * p.lda] = factor = divide(factor, divisor);
#pragma unroll 1
      for (int k = j + 1; k < p.columns; ++k)
        a[i + k * p.lda] = multiply_add(negative(factor), pivot_row[k], a[i + k * p.lda]);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0 && p.info != nullptr && (p.first == 0 || (p.info[batch] == 0 && zero_pivot != 0)))
    p.info[batch] = zero_pivot;
}

template <class T>
__device__ void swap_rows(const SwapArguments& s) {
  const int column = blockIdx.x * kThreads + threadIdx.x;
  if (column >= s.columns) return;
  for (long long batch = blockIdx.y; batch < s.batches; batch += gridDim.y) {
    T* const a = matrix_at<T>(s.a, s.by_pointers, s.stride_a, batch) + column * s.lda;
#pragma unroll 1
    for (int step = 0; step < s.count; ++step) {
      const int i = s.first + (s.backward ? s.count - 1 - step : step);
      const int other = s.pivots[batch * s.stride_pivots + i] - 1;
      if (other == i) continue;
      const T kept = a[i];
      a[i] = a[other];
      a[other] = kept;
    }
  }
}

/// Cholesky of a block: L L^H in the lower triangle, or U^H U in the upper one.
template <class T>
__device__ void cholesky_block(const PanelArguments& p) {
  using Real = typename RealOf<T>::Type;
  __shared__ T tile[kPanel][kPanel + 1];  // L by columns
  const long long batch = blockIdx.x;
  T* const a = matrix_at<T>(p.a, p.by_pointers, p.stride_a, batch);
  const int n = p.rows, x = threadIdx.x % kPanel, lane = threadIdx.x / kPanel;
  for (int y = lane; y < n; y += kThreads / kPanel)
    if (x < n && (p.lower ? x >= y : x <= y)) {
      const T value = a[x + y * p.lda];
      (p.lower ? tile[y][x] : tile[x][y]) = p.lower ? value : conjugate(value);
    }
  __syncthreads();
  int failed = 0;
#pragma unroll 1
  for (int j = 0; j < n; ++j) {
    const Real square = real_part(tile[j][j]);
    if (!(square > 0) && failed == 0) failed = p.first + j + 1;
    const Real root = sqrt(square);
    __syncthreads();
    if (lane == 0 && x >= j && x < n)
      tile[j][x] = x == j ? FromReal<T>::of(root) : divide(tile[j][x], FromReal<T>::of(root));
    __syncthreads();
    for (int k = j + 1 + lane; k < n; k += kThreads / kPanel)
      if (x >= k && x < n) tile[k][x] = multiply_add(negative(tile[j][x]), conjugate(tile[j][k]), tile[k][x]);
    __syncthreads();
  }
  for (int y = lane; y < n; y += kThreads / kPanel)
    if (x < n && (p.lower ? x >= y : x <= y)) a[x + y * p.lda] = p.lower ? tile[y][x] : conjugate(tile[x][y]);
  if (threadIdx.x == 0 && p.info != nullptr && (p.first == 0 || (p.info[batch] == 0 && failed != 0)))
    p.info[batch] = failed;
}

/// info := the first zero on the diagonal, from 1, or 0.
template <class T>
__device__ void find_zero(const PanelArguments& p) {
  if (threadIdx.x != 0) return;
  const T* const a = matrix_at<T>(p.a, p.by_pointers, p.stride_a, blockIdx.x);
  int found = 0;
#pragma unroll 1
  for (int i = 0; i < p.rows && found == 0; ++i)
    if (is_zero(a[i + i * p.lda])) found = i + 1;
  p.info[blockIdx.x] = found;
}

template <class T>
__device__ void identity(const FillArguments& f) {
  const int across = (f.rows + kPanel - 1) / kPanel, i = blockIdx.x % across * kPanel + threadIdx.x % kPanel;
  const int column0 = blockIdx.x / across * kPanel;
  for (long long batch = blockIdx.y; batch < f.batches; batch += gridDim.y) {
    T* const to = matrix_at<T>(f.to, f.by_pointers, f.stride, batch);
    for (int y = threadIdx.x / kPanel; y < kPanel; y += kThreads / kPanel)
      if (i < f.rows && column0 + y < f.columns)
        to[i + (column0 + y) * f.ld] = i == column0 + y ? FromReal<T>::of(1) : zero<T>();
  }
}

}  // namespace lockstep::libraries::blas

#define LOCKSTEP_FACTOR(name, Arguments, ...)                                                \
  extern "C" __global__ void __launch_bounds__(256)                                          \
      lockstep_blas_##name(const __grid_constant__ lockstep::libraries::blas::Arguments p) { \
    using namespace lockstep::libraries::blas;                                               \
    __VA_ARGS__(p);                                                                          \
  }
