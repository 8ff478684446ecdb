// Products of a sparse matrix with dense vectors and matrices.
#include "numbers.cuh"

namespace lockstep::libraries::sparse {
namespace {

/// `lanes` threads a row, a power of two up to 32.
template <class T>
__device__ void multiply_vector(const Rows& a, Scalar<T> alpha_at, const T* x, Scalar<T> beta_at, T* y,
                                int lanes) {
  const long long thread = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const long long row = thread / lanes;
  const int lane = threadIdx.x % lanes;
  const T alpha = value_of(alpha_at);
  T sum = zero<T>();
  if (row < a.count && !is_zero(alpha)) {
    const long long end = at(a.offsets, row + 1);
    for (long long k = at(a.offsets, row) + lane; k < end; k += lanes) {
      const Entry entry = entry_of(a, k);
      sum = sum + entry_value<T>(a, entry.place) * x[entry.column];
    }
  }
  sum = summed(sum, lanes);
  if (row < a.count && lane == 0) store(y[row], alpha, sum, value_of(beta_at));
}

/// A warp a row, a lane a column: for matrices whose columns are neighbours.
template <class T>
__device__ void multiply_by_columns(const Rows& a, Scalar<T> alpha_at, const Dense& b, Scalar<T> beta_at,
                                    const Dense& c, long long columns) {
  const long long row = blockIdx.x * static_cast<long long>(blockDim.y) + threadIdx.y;
  if (row >= a.count) return;
  const T alpha = value_of(alpha_at), beta = value_of(beta_at);
  const long long begin = at(a.offsets, row);
  const long long end = is_zero(alpha) ? begin : at(a.offsets, row + 1);
  for (long long j = blockIdx.y * 32LL + threadIdx.x; j < columns; j += gridDim.y * 32LL) {
    T sum = zero<T>();
    for (long long k = begin; k < end; ++k) {
      const Entry entry = entry_of(a, k);
      sum = sum + entry_value<T>(a, entry.place) * conjugated(element<T>(b, entry.column, j), b.conjugate);
    }
    store(element<T>(c, row, j), alpha, sum, beta);
  }
}

/// `lanes` threads a row, which share its entries, for some columns at a time.
template <class T>
__device__ void multiply_by_entries(const Rows& a, Scalar<T> alpha_at, const Dense& b, Scalar<T> beta_at,
                                    const Dense& c, long long columns, int lanes) {
  constexpr int kColumns = 4;
  const long long thread = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const long long row = thread / lanes;
  const int lane = threadIdx.x % lanes;
  const T alpha = value_of(alpha_at), beta = value_of(beta_at);
  const bool busy = row < a.count && !is_zero(alpha);
  const long long begin = busy ? at(a.offsets, row) : 0;
  const long long end = busy ? at(a.offsets, row + 1) : 0;
  for (long long first = blockIdx.y * static_cast<long long>(kColumns); first < columns;
       first += gridDim.y * static_cast<long long>(kColumns)) {
    T sums[kColumns] = {};
    for (long long k = begin + lane; k < end; k += lanes) {
      const Entry entry = entry_of(a, k);
      const T value = entry_value<T>(a, entry.place);
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        if (first + j < columns)
          sums[j] = sums[j] + value * conjugated(element<T>(b, entry.column, first + j), b.conjugate);
    }
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const T sum = summed(sums[j], lanes);
      if (row < a.count && lane == 0 && first + j < columns)
        store(element<T>(c, row, first + j), alpha, sum, beta);
    }
  }
}

}  // namespace

#define X(suffix, T)                                                                             \
  extern "C" __global__ void lockstep_sparse_mv_##suffix(Rows a, Scalar<T> alpha, const T* x,    \
                                                         Scalar<T> beta, T* y, int lanes) {      \
    multiply_vector<T>(a, alpha, x, beta, y, lanes);                                             \
  }                                                                                              \
  extern "C" __global__ void lockstep_sparse_mm_columns_##suffix(                                \
      Rows a, Scalar<T> alpha, Dense b, Scalar<T> beta, Dense c, long long columns) {            \
    multiply_by_columns<T>(a, alpha, b, beta, c, columns);                                       \
  }                                                                                              \
  extern "C" __global__ void lockstep_sparse_mm_entries_##suffix(                                \
      Rows a, Scalar<T> alpha, Dense b, Scalar<T> beta, Dense c, long long columns, int lanes) { \
    multiply_by_entries<T>(a, alpha, b, beta, c, columns, lanes);                                \
  }
LOCKSTEP_SPARSE_TYPES(X)
#undef X

}  // namespace lockstep::libraries::sparse
