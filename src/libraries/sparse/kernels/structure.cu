// Conversions between formats: a stable radix sort, and offsets from sorted indices and back.
#include "numbers.cuh"

namespace lockstep::libraries::sparse {
namespace {

constexpr int kDigits = 16;  // of four bits
constexpr int kThreads = 256;
constexpr int kKeysOfThread = 4;
constexpr int kKeysOfBlock = kThreads * kKeysOfThread;  // libraries/sparse/sort.cpp has the same

__device__ int digit_of(int key, int shift) { return static_cast<unsigned>(key) >> shift & (kDigits - 1); }

/// The exclusive prefix sums of a warp's values; `total` is their sum.
__device__ int prefix_of_warp(int value, int& total) {
  const int lane = threadIdx.x % 32;
  int sum = value;
  for (int lanes = 1; lanes < 32; lanes *= 2) {
    const int other = __shfl_up_sync(0xffffffffU, sum, lanes);
    if (lane >= lanes) sum += other;
  }
  total = __shfl_sync(0xffffffffU, sum, 31);
  return sum - value;
}

__device__ long long own_thread() { return blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; }

}  // namespace

/// keys: the indices from 0; order: 0, 1, ...
extern "C" __global__ void lockstep_sparse_keys(Indices indices, long long count, int* keys, int* order) {
  const long long k = own_thread();
  if (k >= count) return;
  if (keys) keys[k] = static_cast<int>(at(indices, k));
  if (order) order[k] = static_cast<int>(k);
}

/// counts[digit * blocks + block]
extern "C" __global__ void lockstep_sparse_sort_count(const int* keys, int count, int shift, int* counts) {
  __shared__ int found[kDigits];
  if (threadIdx.x < kDigits) found[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < kKeysOfBlock; i += kThreads) {
    const long long k = blockIdx.x * static_cast<long long>(kKeysOfBlock) + i;
    if (k < count) atomicAdd(&found[digit_of(keys[k], shift)], 1);
  }
  __syncthreads();
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = found[threadIdx.x];
}

/// Exclusive prefix sums in place, by one CTA.
extern "C" __global__ void lockstep_sparse_sort_scan(int* counts, int count) {
  __shared__ int totals[kThreads / 32];
  int before = 0;
  for (int first = 0; first < count; first += kThreads) {
    const int k = first + static_cast<int>(threadIdx.x);
    const int value = k < count ? counts[k] : 0;
    int total = 0;
    int prefix = prefix_of_warp(value, total);
    if (threadIdx.x % 32 == 0) totals[threadIdx.x / 32] = total;
    __syncthreads();
    int all = 0;
    for (int warp = 0; warp < kThreads / 32; ++warp) {
      if (warp < static_cast<int>(threadIdx.x / 32)) prefix += totals[warp];
      all += totals[warp];
    }
    if (k < count) counts[k] = before + prefix;
    before += all;
    __syncthreads();
  }
}

/// Each thread has neighbouring keys, and threads are ranked by digit, so that equal keys keep their order.
extern "C" __global__ void lockstep_sparse_sort_place(const int* keys, const int* order, int count, int shift,
                                                      const int* counts, int* sorted_keys,
                                                      int* sorted_order) {
  __shared__ int ranks[kDigits][kThreads];
  for (int digit = 0; digit < kDigits; ++digit) ranks[digit][threadIdx.x] = 0;
  int own[kKeysOfThread], rank[kKeysOfThread];
  const long long first = blockIdx.x * static_cast<long long>(kKeysOfBlock) + threadIdx.x * kKeysOfThread;
  for (int i = 0; i < kKeysOfThread; ++i) {
    if (first + i >= count) continue;
    own[i] = keys[first + i];
    rank[i] = ranks[digit_of(own[i], shift)][threadIdx.x]++;
  }
  __syncthreads();
  for (int digit = threadIdx.x / 32; digit < kDigits; digit += kThreads / 32) {
    int before = 0;
    for (int thread = threadIdx.x % 32; thread < kThreads; thread += 32) {
      int total = 0;
      const int prefix = prefix_of_warp(ranks[digit][thread], total);
      ranks[digit][thread] = before + prefix;
      before += total;
    }
  }
  __syncthreads();
  for (int i = 0; i < kKeysOfThread; ++i) {
    if (first + i >= count) continue;
    const int digit = digit_of(own[i], shift);
    const int place = counts[digit * gridDim.x + blockIdx.x] + ranks[digit][threadIdx.x] + rank[i];
    sorted_keys[place] = own[i];
    sorted_order[place] = order[first + i];
  }
}

/// offsets[r]: where the first of the sorted indices that is at least r is, for r from 0 to `rows`.
extern "C" __global__ void lockstep_sparse_offsets(Indices sorted, long long count, long long rows, int base,
                                                   int* offsets) {
  const long long row = own_thread();
  if (row <= rows) offsets[row] = lower_bound(sorted, count, row) + base;
}

/// result[k]: the row of entry k.
extern "C" __global__ void lockstep_sparse_expand(Indices offsets, long long rows, long long count, int base,
                                                  int* result) {
  const long long k = own_thread();
  if (k < count) result[k] = lower_bound(offsets, rows + 1, k + 1) - 1 + base;
}

/// result[k] = source[order[k]] + base; `base` is left out of what is not an index.
extern "C" __global__ void lockstep_sparse_gather_i(const int* order, long long count, Indices source,
                                                    int base, int* result) {
  const long long k = own_thread();
  if (k < count) result[k] = static_cast<int>(at(source, order[k])) + base;
}

namespace {
template <class T>
__device__ void reorder(const int* order, long long count, const T* source, T* result) {
  const long long k = own_thread();
  if (k < count) result[k] = source[order[k]];
}

/// A warp a row; the dense matrix has been filled with zeros.
template <class T>
__device__ void densify(const Rows& a, const Dense& b) {
  const long long row = own_thread() / 32;
  if (row >= a.count) return;
  const long long end = at(a.offsets, row + 1);
  for (long long k = at(a.offsets, row) + threadIdx.x % 32; k < end; k += 32) {
    const Entry entry = entry_of(a, k);
    element<T>(b, row, entry.column) = entry_value<T>(a, entry.place);
  }
}
template <class T>
__device__ void clear(const Dense& b, long long rows, long long columns, int across) {
  const long long k = own_thread();
  if (k >= rows * columns) return;
  const long long i = across ? k / columns : k % rows, j = across ? k % columns : k / rows;
  element<T>(b, i, j) = zero<T>();
}
}  // namespace

#define X(suffix, T)                                                                                    \
  extern "C" __global__ void lockstep_sparse_reorder_##suffix(const int* order, long long count,        \
                                                              const T* source, T* result) {             \
    reorder<T>(order, count, source, result);                                                           \
  }                                                                                                     \
  extern "C" __global__ void lockstep_sparse_densify_##suffix(Rows a, Dense b) { densify<T>(a, b); }    \
  extern "C" __global__ void lockstep_sparse_clear_##suffix(Dense b, long long rows, long long columns, \
                                                            int across) {                               \
    clear<T>(b, rows, columns, across);                                                                 \
  }
LOCKSTEP_SPARSE_TYPES(X)
#undef X

}  // namespace lockstep::libraries::sparse
