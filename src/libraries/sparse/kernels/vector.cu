// Sparse vectors with dense ones.
#include "numbers.cuh"

namespace lockstep::libraries::sparse {
namespace {

constexpr int kThreads = 1024;

__device__ long long own_thread() { return blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; }

template <class T>
__device__ void scale(Scalar<T> beta_at, long long count, T* y) {
  const long long k = own_thread();
  const T beta = value_of(beta_at);
  if (k < count) y[k] = is_zero(beta) ? zero<T>() : beta * y[k];
}
template <class T>
__device__ void add(Indices indices, long long count, Scalar<T> alpha, const T* x, T* y) {
  const long long k = own_thread();
  if (k < count) y[at(indices, k)] = y[at(indices, k)] + value_of(alpha) * x[k];
}
template <class T>
__device__ void gather(Indices indices, long long count, const T* y, T* x) {
  const long long k = own_thread();
  if (k < count) x[k] = y[at(indices, k)];
}
template <class T>
__device__ void scatter(Indices indices, long long count, const T* x, T* y) {
  const long long k = own_thread();
  if (k < count) y[at(indices, k)] = x[k];
}
template <class T>
__device__ void rotate(Indices indices, long long count, Scalar<T> c, Scalar<T> s, T* x, T* y) {
  const long long k = own_thread();
  if (k >= count) return;
  const T a = x[k], b = y[at(indices, k)];
  x[k] = value_of(c) * a + value_of(s) * b;
  y[at(indices, k)] = value_of(c) * b - value_of(s) * a;
}

/// By one CTA.
template <class T>
__device__ void dot(Indices indices, long long count, const T* x, int conjugate, const T* y, T* result) {
  __shared__ T sums[kThreads / 32];
  T sum = zero<T>();
  for (long long k = threadIdx.x; k < count; k += kThreads)
    sum = sum + conjugated(x[k], conjugate) * y[at(indices, k)];
  sum = summed(sum, 32);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = summed(sums[threadIdx.x], 32);
  if (threadIdx.x == 0) *result = sum;
}

}  // namespace

#define X(suffix, T)                                                                                         \
  extern "C" __global__ void lockstep_sparse_scale_##suffix(Scalar<T> beta, long long count, T* y) {         \
    scale<T>(beta, count, y);                                                                                \
  }                                                                                                          \
  extern "C" __global__ void lockstep_sparse_add_##suffix(Indices indices, long long count, Scalar<T> alpha, \
                                                          const T* x, T* y) {                                \
    add<T>(indices, count, alpha, x, y);                                                                     \
  }                                                                                                          \
  extern "C" __global__ void lockstep_sparse_gather_##suffix(Indices indices, long long count, const T* y,   \
                                                             T* x) {                                         \
    gather<T>(indices, count, y, x);                                                                         \
  }                                                                                                          \
  extern "C" __global__ void lockstep_sparse_scatter_##suffix(Indices indices, long long count, const T* x,  \
                                                              T* y) {                                        \
    scatter<T>(indices, count, x, y);                                                                        \
  }                                                                                                          \
  extern "C" __global__ void lockstep_sparse_rotate_##suffix(Indices indices, long long count, Scalar<T> c,  \
                                                             Scalar<T> s, T* x, T* y) {                      \
    rotate<T>(indices, count, c, s, x, y);                                                                   \
  }                                                                                                          \
  extern "C" __global__ __launch_bounds__(kThreads) void lockstep_sparse_dot_##suffix(                       \
      Indices indices, long long count, const T* x, int conjugate, const T* y, T* result) {                  \
    dot<T>(indices, count, x, conjugate, y, result);                                                         \
  }
LOCKSTEP_SPARSE_TYPES(X)
#undef X

}  // namespace lockstep::libraries::sparse
