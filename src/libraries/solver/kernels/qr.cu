// Householder's QR of a panel, and block reflectors, by one CTA of 256 threads.
#include "libraries/solver/qr_arguments.hpp"

namespace lockstep::libraries::solver {

constexpr int kThreads = 256, kWarp = 32, kPanel = 32;

template <class T>
__device__ T sum_of_warp(T value) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffff, value, distance);
  return value;
}

/// The largest value (LARGEST), or the sum of all threads' values.
template <class T, bool LARGEST>
__device__ T reduce_cta(T value) {
  __shared__ T values[kThreads];
  values[threadIdx.x] = value;
  __syncthreads();
#pragma unroll 1
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const T other = values[threadIdx.x + half];
      if (!LARGEST)
        values[threadIdx.x] += other;
      else if (!(other <= values[threadIdx.x]))  // also where it is NaN
        values[threadIdx.x] = other;
    }
    __syncthreads();
  }
  value = values[0];
  __syncthreads();
  return value;
}

/// The length of a column below its first element; scaled, so that squares do not overflow.
template <class T>
__device__ T length_below(const T* column, int rows) {
  T largest = 0, squares = 0;
#pragma unroll 1
  for (int i = 1 + threadIdx.x; i < rows; i += kThreads) {
    const T size = column[i] < 0 ? -column[i] : column[i];
    if (!(size <= largest)) largest = size;
  }
  largest = reduce_cta<T, true>(largest);
  if (largest == 0) return 0;
#pragma unroll 1
  for (int i = 1 + threadIdx.x; i < rows; i += kThreads)
    squares += column[i] / largest * (column[i] / largest);
  return largest * sqrt(reduce_cta<T, false>(squares));
}

/// The dot product of two columns below their first elements, in each lane of a warp.
template <class T>
__device__ T dot_below(const T* a, const T* b, int rows) {
  T sum = 0;
#pragma unroll 1
  for (int i = 1 + threadIdx.x % kWarp; i < rows; i += kWarp) sum += a[i] * b[i];
  return sum_of_warp(sum);
}

template <class T>
__device__ void qr_panel(const QrArguments& q) {
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
#pragma unroll 1
  for (int j = 0; j < q.columns && j < q.rows; ++j) {
    const int rows = q.rows - j;
    T* const v = static_cast<T*>(q.a) + j + j * q.lda;  // below its first element, which is one
    const T alpha = v[0], length = length_below(v, rows);
    const T beta = length == 0 ? alpha : -copysign(hypot(alpha, length), alpha);
    const T tau = length == 0 ? T(0) : (beta - alpha) / beta;
    __syncthreads();
    if (length != 0)
#pragma unroll 1
      for (int i = 1 + threadIdx.x; i < rows; i += kThreads) v[i] /= alpha - beta;
    if (threadIdx.x == 0) v[0] = beta, static_cast<T*>(q.tau)[j] = tau;
    __syncthreads();
#pragma unroll 1
    for (int k = j + 1 + warp; k < q.columns; k += kThreads / kWarp) {
      T* const c = v + (k - j) * q.lda;
      const T factor = tau * (c[0] + dot_below(v, c, rows));
      __syncwarp();
      if (lane == 0) c[0] -= factor;
#pragma unroll 1
      for (int i = 1 + lane; i < rows; i += kWarp) c[i] -= factor * v[i];
    }
    __syncthreads();
  }
}

/// T of the reflectors in a panel.
template <class T>
__device__ void block_reflector(const QrArguments& q) {
  __shared__ T t[kPanel][kPanel], products[kPanel];  // T by columns
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  for (int i = threadIdx.x; i < kPanel * kPanel; i += kThreads) t[i / kPanel][i % kPanel] = 0;
  __syncthreads();
#pragma unroll 1
  for (int j = 0; j < q.columns; ++j) {
    const T* const v = static_cast<const T*>(q.a) + j + j * q.lda;
    const T tau = static_cast<const T*>(q.tau)[j];
#pragma unroll 1
    for (int i = warp; i < j; i += kThreads / kWarp) {
      const T* const other = v + (i - j) * q.lda;
      const T product = other[0] + dot_below(v, other, q.rows - j);
      if (lane == 0) products[i] = product;
    }
    __syncthreads();
    if (threadIdx.x < j) {
      T sum = 0;
#pragma unroll 1
      for (int k = threadIdx.x; k < j; ++k) sum += t[k][threadIdx.x] * products[k];
      t[j][threadIdx.x] = -tau * sum;
    }
    if (threadIdx.x == j) t[j][j] = tau;
    __syncthreads();
  }
  for (int i = threadIdx.x; i < kPanel * kPanel; i += kThreads)
    static_cast<T*>(q.t)[i] = t[i / kPanel][i % kPanel];
}

/// V, by CTAs that have 32 rows each.
template <class T>
__device__ void reflectors(const QrArguments& q) {
  const int i = blockIdx.x * kWarp + threadIdx.x % kWarp;
  if (i >= q.rows) return;
  for (int j = threadIdx.x / kWarp; j < q.columns; j += kThreads / kWarp)
    static_cast<T*>(q.v)[i + static_cast<long long>(j) * q.rows] =
        i < j    ? T(0)
        : i == j ? T(1)
                 : static_cast<const T*>(q.a)[i + j * q.lda];
}

}  // namespace lockstep::libraries::solver

#define LOCKSTEP_QR(name, ...)                                                                     \
  extern "C" __global__ void __launch_bounds__(256)                                                \
      lockstep_solver_##name(const __grid_constant__ lockstep::libraries::solver::QrArguments q) { \
    lockstep::libraries::solver::__VA_ARGS__(q);                                                   \
  }
LOCKSTEP_QR(qr_panel_f32, qr_panel<float>)
LOCKSTEP_QR(qr_panel_f64, qr_panel<double>)
LOCKSTEP_QR(block_reflector_f32, block_reflector<float>)
LOCKSTEP_QR(block_reflector_f64, block_reflector<double>)
LOCKSTEP_QR(reflectors_f32, reflectors<float>)
LOCKSTEP_QR(reflectors_f64, reflectors<double>)
