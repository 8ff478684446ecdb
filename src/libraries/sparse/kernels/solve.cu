// Triangular systems, level by level.
#include "numbers.cuh"

namespace lockstep::libraries::sparse {
namespace {

/// Row `row` of one right-hand side, by a warp.
template <class T>
__device__ void solve_row(const Rows& a, const Levels& levels, T alpha, const Dense& b, const Dense& x,
                          long long row, long long column) {
  T sum = zero<T>(), diagonal = zero<T>();
  const long long end = at(a.offsets, row + 1);
  for (long long k = at(a.offsets, row) + threadIdx.x % 32; k < end; k += 32) {
    const Entry entry = entry_of(a, k);
    if (entry.column == row) {
      diagonal = diagonal + entry_value<T>(a, entry.place);
    } else if ((entry.column > row) == (levels.upper != 0)) {
      sum = sum + entry_value<T>(a, entry.place) * element<T>(x, entry.column, column);
    }
  }
  sum = summed(sum, 32);
  diagonal = summed(diagonal, 32);
  if (threadIdx.x % 32 != 0) return;
  T result = alpha * conjugated(element<T>(b, row, column), b.conjugate) - sum;
  if (!levels.unit) result = result / diagonal;
  element<T>(x, row, column) = result;
}

/// Levels `first` to `last` by one CTA, or one level by as many as there are.
template <class T>
__device__ void solve(const Rows& a, const Levels& levels, int first, int last, Scalar<T> alpha_at,
                      const Dense& b, const Dense& x, long long columns) {
  const T alpha = value_of(alpha_at);
  const long long warps = gridDim.x * static_cast<long long>(blockDim.x / 32);
  for (int level = first; level <= last; ++level) {
    const int begin = levels.starts[level];
    const long long work = (levels.starts[level + 1] - begin) * columns;
    for (long long w = blockIdx.x * static_cast<long long>(blockDim.x / 32) + threadIdx.x / 32; w < work;
         w += warps)
      solve_row<T>(a, levels, alpha, b, x, levels.rows[begin + w / columns], w % columns);
    __syncthreads();
  }
}

}  // namespace

#define X(suffix, T)                                                                                      \
  extern "C" __global__ __launch_bounds__(1024) void lockstep_sparse_solve_##suffix(                      \
      Rows a, Levels levels, int first, int last, Scalar<T> alpha, Dense b, Dense x, long long columns) { \
    solve<T>(a, levels, first, last, alpha, b, x, columns);                                               \
  }
LOCKSTEP_SPARSE_TYPES(X)
#undef X

}  // namespace lockstep::libraries::sparse
