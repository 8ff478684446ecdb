// Matrices times vectors.
#pragma once

#include "libraries/blas/kernels/numbers.cuh"
#include "libraries/blas/matrix_arguments.hpp"

namespace lockstep::libraries::blas {

/// A CTA of 256 threads has 32 rows, each of them by 8 threads.
constexpr int kSide = 32, kLanes = 8;

template <class T>
struct MatrixVector {
  const MatrixVectorArguments& g;
  const T *a, *x;
  T* y;
  T alpha, beta;

  __device__ MatrixVector(const MatrixVectorArguments& arguments, long long batch) : g(arguments) {
    a = place<T>(g.a, g.stride_a, batch);
    x = place<T>(g.x, g.stride_x, batch);
    y = const_cast<T*>(place<T>(g.y, g.stride_y, batch));
    alpha = ScalarOf<T>::read(g.alpha);
    beta = ScalarOf<T>::read(g.beta);
  }
  template <class U>
  __device__ const U* place(const void* base, long long stride, long long batch) const {
    return g.by_pointers ? static_cast<const U* const*>(base)[batch]
                         : static_cast<const U*>(base) + batch * stride;
  }
  /// y is not read where beta is zero.
  __device__ void write(int row, T sum) const {
    T& to = y[row * g.inc_y];
    const T product = multiply(alpha, sum);
    to = is_zero(beta) ? product : multiply_add(beta, to, product);
  }
  __device__ T x_at(int i) const { return x[i * g.inc_x]; }
  __device__ T conjugated(T value) const { return g.op == kOpC ? conjugate(value) : value; }
};

/// The sum of what the threads of one row have, for the first of them.
template <class T>
__device__ T sum_lanes(T value, int row, int lane) {
  __shared__ T values[kLanes][kSide];
  values[lane][row] = value;
  __syncthreads();
  T sum = zero<T>();
  if (lane == 0)
    for (int i = 0; i < kLanes; ++i) sum = plus(sum, values[i][row]);
  __syncthreads();
  return sum;
}

/// y := alpha A x + beta y
template <class T>
__device__ void gemv_n(const MatrixVectorArguments& g) {
  const int row = threadIdx.x % kSide, lane = threadIdx.x / kSide, i = blockIdx.x * kSide + row;
  for (long long batch = blockIdx.y; batch < g.batches; batch += gridDim.y) {
    const MatrixVector<T> p(g, batch);
    T sum = zero<T>();
    if (i < g.m && !is_zero(p.alpha))
      for (int j = lane; j < g.n; j += kLanes) sum = multiply_add(p.a[i + j * g.lda], p.x_at(j), sum);
    sum = sum_lanes(sum, row, lane);
    if (lane == 0 && i < g.m) p.write(i, sum);
  }
}

/// y := alpha A^T x + beta y: a warp for each column.
template <class T>
__device__ void gemv_t(const MatrixVectorArguments& g) {
  __shared__ T values[kLanes][kSide];
  const int lane = threadIdx.x % kSide, warp = threadIdx.x / kSide, j = blockIdx.x * kLanes + warp;
  for (long long batch = blockIdx.y; batch < g.batches; batch += gridDim.y) {
    const MatrixVector<T> p(g, batch);
    T sum = zero<T>();
    if (j < g.n && !is_zero(p.alpha))
      for (int i = lane; i < g.m; i += kSide)
        sum = multiply_add(p.conjugated(p.a[i + j * g.lda]), p.x_at(i), sum);
    values[warp][lane] = sum;
    __syncwarp();
    for (int half = kSide / 2; half > 0; half /= 2) {
      if (lane < half) values[warp][lane] = plus(values[warp][lane], values[warp][lane + half]);
      __syncwarp();
    }
    if (lane == 0 && j < g.n) p.write(j, values[warp][0]);
    __syncwarp();
  }
}

/// From what is stored of a tile to the whole of it. `mirrored`: the tile on the other side of the diagonal
/// was loaded.
template <class T>
__device__ void mirror_tile(const MatrixVector<T>& p, T (&tile)[kSide][kSide + 1], int row0, int column0,
                            bool mirrored) {
  const bool lower = p.g.triangle == kLowerTriangle;
  const int x = threadIdx.x % kSide, first = threadIdx.x / kSide;
  T kept[kSide / kLanes];
  for (int k = 0; k < kSide / kLanes; ++k) {  // element (x, y) of the whole tile
    const int y = first + k * kLanes, i = row0 + x, j = column0 + y;
    const bool stored = !mirrored && (lower ? i >= j : i <= j);
    const T value = stored ? tile[y][x] : tile[x][y];
    kept[k] = !stored && p.g.hermitian ? conjugate(value) : value;
  }
  __syncthreads();
  for (int k = 0; k < kSide / kLanes; ++k) tile[first + k * kLanes][x] = kept[k];
  __syncthreads();
}

/// A tile of a matrix of which one triangle is stored: whole, or (TRIANGULAR) with zeros in the other
/// triangle.
template <class T, bool TRIANGULAR>
__device__ void load_tile(const MatrixVector<T>& p, T (&tile)[kSide][kSide + 1], int row0, int column0) {
  const MatrixVectorArguments& g = p.g;
  const bool lower = g.triangle == kLowerTriangle;
  const bool mirrored = lower ? row0 < column0 : row0 > column0;
  const int from_row = mirrored ? column0 : row0, from_column = mirrored ? row0 : column0;
  const int x = threadIdx.x % kSide, first = threadIdx.x / kSide;
  for (int y = first; y < kSide; y += kLanes) {
    const int i = from_row + x, j = from_column + y;
    T value = zero<T>();
    if (i < g.m && j < g.m && (lower ? i >= j : i <= j)) value = p.a[i + j * g.lda];
    if (i == j && g.unit) value = FromReal<T>::of(1);
    if (i == j && g.hermitian) drop_imaginary(value);
    tile[y][x] = value;
  }
  __syncthreads();
  if constexpr (!TRIANGULAR) mirror_tile(p, tile, row0, column0, mirrored);
}

/// y, a matrix, := A as a whole, or (TRIANGULAR) with zeros in the other triangle.
template <class T, bool TRIANGULAR>
__device__ void expand(const MatrixVectorArguments& g) {
  __shared__ T tile[kSide][kSide + 1];
  const MatrixVector<T> p(g, 0);
  const int row0 = blockIdx.x * kSide, column0 = blockIdx.y * kSide, i = row0 + threadIdx.x % kSide;
  const bool empty = g.triangle == kLowerTriangle ? row0 < column0 : row0 > column0;
  if (!TRIANGULAR || !empty) load_tile<T, TRIANGULAR>(p, tile, row0, column0);
  for (int y = threadIdx.x / kSide; y < kSide; y += kLanes)
    if (i < g.m && column0 + y < g.m)
      p.y[i + (column0 + y) * g.inc_y] = TRIANGULAR && empty ? zero<T>() : tile[y][threadIdx.x % kSide];
}

/// y := alpha A x + beta y of a symmetric or Hermitian A.
template <class T>
__device__ void symv(const MatrixVectorArguments& g) {
  __shared__ T tile[kSide][kSide + 1];
  const MatrixVector<T> p(g, 0);
  const int row = threadIdx.x % kSide, lane = threadIdx.x / kSide, row0 = blockIdx.x * kSide;
  T sum = zero<T>();
  if (!is_zero(p.alpha))
    for (int column0 = 0; column0 < g.m; column0 += kSide) {
      load_tile<T, false>(p, tile, row0, column0);
      for (int y = lane; y < kSide && column0 + y < g.m; y += kLanes)
        sum = multiply_add(tile[y][row], p.x_at(column0 + y), sum);
      __syncthreads();
    }
  sum = sum_lanes(sum, row, lane);
  if (lane == 0 && row0 + row < g.m) p.write(row0 + row, sum);
}

/// y := op(A) x of a triangular A.
template <class T>
__device__ void trmv(const MatrixVectorArguments& g) {
  __shared__ T tile[kSide][kSide + 1];
  const MatrixVector<T> p(g, 0);
  const int row = threadIdx.x % kSide, lane = threadIdx.x / kSide, row0 = blockIdx.x * kSide;
  const bool across = g.op != kOpN, lower = (g.triangle == kLowerTriangle) != across;
  T sum = zero<T>();
  const int begin = lower ? 0 : row0, end = lower ? row0 + kSide : g.m;
  for (int column0 = begin; column0 < end && column0 < g.m; column0 += kSide) {
    load_tile<T, true>(p, tile, across ? column0 : row0, across ? row0 : column0);
    for (int y = lane; y < kSide && column0 + y < g.m; y += kLanes)
      sum = multiply_add(p.conjugated(across ? tile[row][y] : tile[y][row]), p.x_at(column0 + y), sum);
    __syncthreads();
  }
  sum = sum_lanes(sum, row, lane);
  if (lane == 0 && row0 + row < g.m) p.y[(row0 + row) * g.inc_y] = sum;
}

/// op(A) y = y of a triangular A, by one CTA: 32 unknowns by a warp, then all others without them.
template <class T>
__device__ void trsv(const MatrixVectorArguments& g) {
  __shared__ T tile[kSide][kSide + 1], solved[kSide];
  const MatrixVector<T> p(g, 0);
  const bool across = g.op != kOpN, lower = (g.triangle == kLowerTriangle) != across;
  const auto element = [&](int i, int j) {
    return p.conjugated(across ? p.a[j + i * g.lda] : p.a[i + j * g.lda]);
  };
  const int blocks = (g.m + kSide - 1) / kSide;
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    const int first = (lower ? block : blocks - 1 - block) * kSide, count = min(kSide, g.m - first);
    load_tile<T, true>(p, tile, first, first);
    if (threadIdx.x < kSide) {
      const int i = threadIdx.x;
      T value = i < count ? p.y[(first + i) * g.inc_y] : zero<T>();
#pragma unroll 1
      for (int k = 0; k < count; ++k) {
        const int at = lower ? k : count - 1 - k;
        if (i == at) solved[at] = value = g.unit ? value : divide(value, p.conjugated(tile[at][at]));
        __syncwarp();
        if (lower ? i > at : i < at)
          value = multiply_add(negative(p.conjugated(across ? tile[i][at] : tile[at][i])), solved[at], value);
      }
      if (i < count) p.y[(first + i) * g.inc_y] = value;
    }
    __syncthreads();
    const int begin = lower ? first + count : 0, end = lower ? g.m : first;
#pragma unroll 1
    for (int i = begin + static_cast<int>(threadIdx.x); i < end; i += blockDim.x) {
      T value = p.y[i * g.inc_y];
      for (int k = 0; k < count; ++k) value = multiply_add(negative(element(i, first + k)), solved[k], value);
      p.y[i * g.inc_y] = value;
    }
    __syncthreads();
  }
}

/// A := A + alpha x op(y)^T, in `triangle` only; y may be x. Hermitian: with the conjugate of y, and a real
/// diagonal. Here `x` and `y` are vectors that are read, and `a` is written.
template <class T>
__device__ void rank_one(const MatrixVectorArguments& g) {
  const MatrixVector<T> p(g, 0);
  T* const a = const_cast<T*>(p.a);
  const T alpha = g.conjugate_alpha ? conjugate(p.alpha) : p.alpha;
  if (is_zero(alpha)) return;
  const int i = blockIdx.x * kSide + threadIdx.x % kSide;
  for (int j = blockIdx.y * kLanes + threadIdx.x / kSide; j < g.n; j += gridDim.y * kLanes) {
    if (i >= g.m) continue;
    if ((g.triangle == kLowerTriangle && i < j) || (g.triangle == kUpperTriangle && i > j)) continue;
    T& to = a[i + j * g.lda];
    to = multiply_add(multiply(alpha, p.x_at(i)), p.conjugated(p.y[j * g.inc_y]), to);
    if (g.hermitian && i == j) drop_imaginary(to);
  }
}

}  // namespace lockstep::libraries::blas

#define LOCKSTEP_MATRIX_VECTOR(name, ...)                                                                \
  extern "C" __global__ void __launch_bounds__(256)                                                      \
      lockstep_blas_##name(const __grid_constant__ lockstep::libraries::blas::MatrixVectorArguments g) { \
    using namespace lockstep::libraries::blas;                                                           \
    __VA_ARGS__(g);                                                                                      \
  }
