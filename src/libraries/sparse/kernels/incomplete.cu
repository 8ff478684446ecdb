// Incomplete factors of a CSR matrix in its own place, row by row and level by level.
#include "numbers.cuh"

namespace lockstep::libraries::sparse {
namespace {

/// Where entry (row, column) is, or -1; columns ascend in each row.
__device__ int find(const Pattern& a, int row, int column) {
  int low = a.offsets[row] - a.base, high = a.offsets[row + 1] - a.base;
  const int end = high;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (a.columns[middle] - a.base < column) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < end && a.columns[low] - a.base == column ? low : -1;
}

/// A pivot as it is, or what takes its place where it is too small.
template <class T>
__device__ T boosted(T pivot, const Boost<T>& boost) {
  return boost.enabled && value_of(boost.tolerance) >= fabs(static_cast<double>(pivot))
             ? value_of(boost.value)
             : pivot;
}

/// Row `row` of L and U by a warp: for each entry left of the diagonal a multiple of a row above is taken
/// away.
template <class T>
__device__ void factor_lu(const Pattern& a, T* values, const Boost<T>& boost, int* zero_pivot, int row) {
  const int lane = threadIdx.x % 32;
  const int begin = a.offsets[row] - a.base, end = a.offsets[row + 1] - a.base;
  for (int k = begin; k < end && a.columns[k] - a.base < row; ++k) {
    const int above = a.columns[k] - a.base, pivot = find(a, above, above);
    const T factor = values[k] / (pivot < 0 ? T(0) : values[pivot]);
    __syncwarp();
    if (lane == 0) values[k] = factor;
    const int end_above = a.offsets[above + 1] - a.base;
    for (int j = pivot + 1 + lane; pivot >= 0 && j < end_above; j += 32) {
      const int place = find(a, row, a.columns[j] - a.base);
      if (place >= 0) values[place] = values[place] - factor * values[j];
    }
    __syncwarp();
  }
  const int diagonal = find(a, row, row);
  if (lane != 0) return;
  const T pivot = diagonal < 0 ? T(0) : boosted(values[diagonal], boost);
  if (diagonal >= 0) values[diagonal] = pivot;
  if (pivot == T(0)) atomicMin(zero_pivot, row);
}

/// Row `row` of L with A = L L^T, by a warp: each entry less the product of its row and its column's row.
template <class T>
__device__ void factor_cholesky(const Pattern& a, T* values, int* zero_pivot, int row) {
  const int lane = threadIdx.x % 32;
  const int begin = a.offsets[row] - a.base, end = a.offsets[row + 1] - a.base;
  T squares = T(0);
  for (int k = begin; k < end && a.columns[k] - a.base < row; ++k) {
    const int above = a.columns[k] - a.base, pivot = find(a, above, above);
    T sum = T(0);
    for (int j = a.offsets[above] - a.base + lane; j < (pivot < 0 ? 0 : pivot); j += 32) {
      const int place = find(a, row, a.columns[j] - a.base);
      if (place >= 0) sum = sum + values[place] * values[j];
    }
    sum = __shfl_sync(0xffffffffU, summed(sum, 32), 0);
    const T factor = (values[k] - sum) / (pivot < 0 ? T(0) : values[pivot]);
    __syncwarp();
    if (lane == 0) values[k] = factor;
    __syncwarp();
    squares = squares + factor * factor;
  }
  const int diagonal = find(a, row, row);
  if (lane != 0) return;
  const T pivot = diagonal < 0 ? T(0) : sqrt(values[diagonal] - squares);
  if (diagonal >= 0) values[diagonal] = pivot;
  if (!(pivot > T(0))) atomicMin(zero_pivot, row);
}

/// Calls `factor(row)` for the rows of levels `first` to `last`, by one CTA, or of one level by all.
template <class Factor>
__device__ void for_rows(const Levels& levels, int first, int last, Factor factor) {
  const int warps = gridDim.x * (blockDim.x / 32);
  for (int level = first; level <= last; ++level) {
    const int end = levels.starts[level + 1];
    for (int k = levels.starts[level] + blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; k < end;
         k += warps)
      factor(levels.rows[k]);
    __syncthreads();
  }
}

}  // namespace

#define X(suffix, T)                                                                                  \
  extern "C" __global__ __launch_bounds__(1024) void lockstep_sparse_ilu_##suffix(                    \
      Pattern a, T* values, Levels levels, int first, int last, Boost<T> boost, int* zero_pivot) {    \
    for_rows(levels, first, last, [&](int row) { factor_lu<T>(a, values, boost, zero_pivot, row); }); \
  }                                                                                                   \
  extern "C" __global__ __launch_bounds__(1024) void lockstep_sparse_ic_##suffix(                     \
      Pattern a, T* values, Levels levels, int first, int last, int* zero_pivot) {                    \
    for_rows(levels, first, last, [&](int row) { factor_cholesky<T>(a, values, zero_pivot, row); });  \
  }
X(s, float) X(d, double)
#undef X

}  // namespace lockstep::libraries::sparse
