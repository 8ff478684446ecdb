// Triangular systems, level by level.
#include "numbers.cuh"

namespace lockstep::libraries::sparse {
namespace {

/// Row `row` of one right-hand side, by `lanes` threads; all threads of a warp take part, and those with
/// `row` -1 do nothing.
template <class T>
__device__ void solve_row(const Rows& a, const Levels& levels, T alpha, const Dense& b, const Dense& x,
                          long long row, long long column, int lanes) {
  const int lane = threadIdx.x % lanes;
  T sum = zero<T>(), diagonal = zero<T>();
  const long long end = row < 0 ? 0 : at(a.offsets, row + 1);
  for (long long k = (row < 0 ? 0 : at(a.offsets, row)) + lane; k < end; k += lanes) {
    const Entry entry = entry_of(a, k);
    if (entry.column == row) {
      diagonal = diagonal + entry_value<T>(a, entry.place);
    } else if ((entry.column > row) == (levels.upper != 0)) {
      sum = sum + entry_value<T>(a, entry.place) * element<T>(x, entry.column, column);
    }
  }
  sum = summed(sum, lanes);
  diagonal = summed(diagonal, lanes);
  if (row < 0 || lane != 0) return;
  T result = alpha * conjugated(element<T>(b, row, column), b.conjugate) - sum;
  if (!levels.unit) result = result / diagonal;
  element<T>(x, row, column) = result;
}

/// Levels `first` to `last` by one CTA, or one level by as many as there are.
template <class T>
__device__ void solve(const Rows& a, const Levels& levels, int first, int last, Scalar<T> alpha_at,
                      const Dense& b, const Dense& x, long long columns, int lanes) {
  const T alpha = value_of(alpha_at);
  const int rows_of_warp = 32 / lanes;
  const long long warp = blockIdx.x * static_cast<long long>(blockDim.x / 32) + threadIdx.x / 32;
  const long long step = gridDim.x * static_cast<long long>(blockDim.x / lanes);
  for (int level = first; level <= last; ++level) {
    const int begin = levels.starts[level];
    const long long work = (levels.starts[level + 1] - begin) * columns;
    for (long long w = warp * rows_of_warp; w < work; w += step) {
      const long long own = w + threadIdx.x % 32 / lanes;
      const long long row = own < work ? levels.rows[begin + own / columns] : -1;
      solve_row<T>(a, levels, alpha, b, x, row, own % columns, lanes);
    }
    __syncthreads();
  }
}

}  // namespace

#define X(suffix, T)                                                                                    \
  extern "C" __global__ __launch_bounds__(1024) void lockstep_sparse_solve_##suffix(                    \
      Rows a, Levels levels, int first, int last, Scalar<T> alpha, Dense b, Dense x, long long columns, \
      int lanes) {                                                                                      \
    solve<T>(a, levels, first, last, alpha, b, x, columns, lanes);                                      \
  }
LOCKSTEP_SPARSE_TYPES(X)
#undef X

}  // namespace lockstep::libraries::sparse
