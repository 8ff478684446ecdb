// Dense matrices with sparse ones: conversion to sparse, and products at the places of a sparse matrix.
#include "numbers.cuh"

namespace lockstep::libraries::sparse {
namespace {

__device__ long long own_thread() { return blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; }

/// Calls `body(j, rank)` for the elements of row i that are not zero; rank: how many there are before.
/// `lanes` is 1 or 32, the threads of a row.
template <class T, class Body>
__device__ int for_nonzeros(const Dense& a, long long i, long long rows, long long columns, int lanes,
                            Body body) {
  const int lane = threadIdx.x % lanes;
  int count = 0;
  for (long long first = 0; first < columns; first += lanes) {
    const long long j = first + lane;
    const bool found = i < rows && j < columns && !is_zero(element<T>(a, i, j));
    const unsigned all = lanes == 1 ? found : __ballot_sync(0xffffffffU, found);
    if (found) body(j, count + __popc(all & ((1U << lane) - 1)));
    count += __popc(all);
  }
  return count;
}

template <class T>
__device__ void count_nonzeros(const Dense& a, long long rows, long long columns, int lanes, int* counts) {
  const long long i = own_thread() / lanes;
  const int count = for_nonzeros<T>(a, i, rows, columns, lanes, [](long long, int) {});
  if (i <= rows && threadIdx.x % lanes == 0) counts[i] = count;  // the last one is 0
}

/// offsets: from 0; coordinates, where they are given, have the row of each entry.
template <class T>
__device__ void sparsify(const Dense& a, long long rows, long long columns, int lanes, const int* offsets,
                         const Indices& coordinates, const Indices& indices, T* values) {
  const long long i = own_thread() / lanes;
  const long long begin = i < rows ? offsets[i] : 0;
  for_nonzeros<T>(a, i, rows, columns, lanes, [&](long long j, int rank) {
    if (coordinates.data) put(coordinates, begin + rank, i);
    put(indices, begin + rank, j);
    values[begin + rank] = element<T>(a, i, j);
  });
}

/// `lanes` threads an entry of C, a power of two up to 32.
template <class T>
__device__ void multiply_sampled(const Dense& a, const Dense& b, long long inner, Scalar<T> alpha,
                                 Scalar<T> beta, const Rows& c, long long entries, T* values, int lanes) {
  const long long k = own_thread() / lanes;
  T sum = zero<T>();
  if (k < entries) {
    const long long row = lower_bound(c.offsets, c.count + 1, k + 1) - 1;
    const long long column = at(c.columns, k);
    for (long long l = threadIdx.x % lanes; l < inner; l += lanes)
      sum = sum + conjugated(element<T>(a, row, l), a.conjugate) *
                      conjugated(element<T>(b, l, column), b.conjugate);
  }
  sum = summed(sum, lanes);
  if (k < entries && threadIdx.x % lanes == 0) store(values[k], value_of(alpha), sum, value_of(beta));
}

}  // namespace

/// Prefix sums as offsets from their base.
extern "C" __global__ void lockstep_sparse_put_indices(const int* from, long long count, Indices to) {
  const long long k = own_thread();
  if (k < count) put(to, k, from[k]);
}

#define X(suffix, T)                                                                                   \
  extern "C" __global__ void lockstep_sparse_count_nonzeros_##suffix(                                  \
      Dense a, long long rows, long long columns, int lanes, int* counts) {                            \
    count_nonzeros<T>(a, rows, columns, lanes, counts);                                                \
  }                                                                                                    \
  extern "C" __global__ void lockstep_sparse_sparsify_##suffix(                                        \
      Dense a, long long rows, long long columns, int lanes, const int* offsets, Indices coordinates,  \
      Indices indices, T* values) {                                                                    \
    sparsify<T>(a, rows, columns, lanes, offsets, coordinates, indices, values);                       \
  }                                                                                                    \
  extern "C" __global__ void lockstep_sparse_sddmm_##suffix(Dense a, Dense b, long long inner,         \
                                                            Scalar<T> alpha, Scalar<T> beta, Rows c,   \
                                                            long long entries, T* values, int lanes) { \
    multiply_sampled<T>(a, b, inner, alpha, beta, c, entries, values, lanes);                          \
  }
LOCKSTEP_SPARSE_TYPES(X)
#undef X

}  // namespace lockstep::libraries::sparse
