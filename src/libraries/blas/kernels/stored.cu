// Band and packed matrices times vectors.
#include "libraries/blas/kernels/numbers.cuh"
#include "libraries/blas/stored_arguments.hpp"

namespace lockstep::libraries::blas {

/// CTAs of 256 threads: 32 lines by 8 threads each, or (along columns) 8 lines at a time by 32.
constexpr int kSide = 32, kLanes = 8;

template <class T>
struct Stored {
  const StoredArguments& g;

  __device__ explicit Stored(const StoredArguments& arguments) : g(arguments) {}
  __device__ bool has(int i, int j) const { return i - j <= g.matrix.below && j - i <= g.matrix.above; }
  /// Of an element that is stored.
  __device__ T& at(int i, int j) const {
    const StoredMatrix& s = g.matrix;
    const long long column = j;
    const long long place = !s.packed      ? s.above + i - j + column * s.lda
                            : s.below == 0 ? i + column * (column + 1) / 2
                                           : i + column * (2LL * s.n - column - 1) / 2;
    return static_cast<T*>(s.a)[place];
  }
  /// Of op(A), where it is not known to be zero.
  __device__ T element(int i, int j) const {
    if (i == j && g.unit) return FromReal<T>::of(1);
    if (g.symmetric) {
      T value = has(i, j) ? at(i, j) : at(j, i);
      if (g.hermitian && !has(i, j)) value = conjugate(value);
      if (g.hermitian && i == j) drop_imaginary(value);
      return value;
    }
    if (g.op == kOpN) return at(i, j);
    return g.op == kOpC ? conjugate(at(j, i)) : at(j, i);
  }
  /// Diagonals of op(A) on each side.
  __device__ int below() const {
    return g.symmetric ? max(g.matrix.below, g.matrix.above) : g.op == kOpN ? g.matrix.below : g.matrix.above;
  }
  __device__ int above() const {
    return g.symmetric ? max(g.matrix.below, g.matrix.above) : g.op == kOpN ? g.matrix.above : g.matrix.below;
  }
  __device__ T x_at(int i) const { return static_cast<const T*>(g.x)[i * g.inc_x]; }
  __device__ T& y_at(int i) const { return static_cast<T*>(g.y)[i * g.inc_y]; }
};

/// y := alpha op(A) x + beta y; y is not read where beta is zero, nor are A and x where alpha is.
template <class T>
__device__ void stored_product(const StoredArguments& g) {
  __shared__ T sums[kSide][kSide + 1];
  const Stored<T> s(g);
  const T alpha = ScalarOf<T>::read(g.alpha), beta = ScalarOf<T>::read(g.beta);
  const bool across = g.op != kOpN;  // neighbours are in a column
  const int rows = across ? g.matrix.n : g.matrix.m, columns = across ? g.matrix.m : g.matrix.n;
  const int x = threadIdx.x % kSide, y = threadIdx.x / kSide, row0 = blockIdx.x * kSide;
  const int lanes = across ? kSide : kLanes, lane = across ? x : y;
#pragma unroll 1
  for (int line = across ? y : x; line < kSide; line += across ? kLanes : kSide) {
    const int i = row0 + line;
    T sum = zero<T>();
    if (i < rows && !is_zero(alpha)) {
      const int begin = max(0, i - s.below());
      const int end =
          static_cast<int>(min(static_cast<long long>(columns), static_cast<long long>(i) + s.above() + 1));
#pragma unroll 1
      for (int j = begin + lane; j < end; j += lanes) sum = multiply_add(s.element(i, j), s.x_at(j), sum);
    }
    sums[line][lane] = sum;
  }
  __syncthreads();
  const int i = row0 + x;
  if (y != 0 || i >= rows) return;
  T sum = zero<T>();
#pragma unroll 1
  for (int k = 0; k < lanes; ++k) sum = plus(sum, sums[x][k]);
  T& to = s.y_at(i);
  sum = multiply(alpha, sum);
  to = is_zero(beta) ? sum : multiply_add(beta, to, sum);
}

/// op(A) y = y of a triangular A, by one CTA: one unknown after the other.
template <class T>
__device__ void stored_solution(const StoredArguments& g) {
  const Stored<T> s(g);
  const int n = g.matrix.n, below = s.below(), above = s.above();
  const bool lower = (g.matrix.above == 0) == (g.op == kOpN);  // op(A); of a diagonal matrix, either
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    const int i = lower ? k : n - 1 - k;
    if (threadIdx.x == 0 && !g.unit) s.y_at(i) = divide(s.y_at(i), s.element(i, i));
    __syncthreads();
    const T solved = negative(s.y_at(i));
    const int reach = lower ? min(below, n - 1 - i) : min(above, i);
#pragma unroll 1
    for (int d = 1 + threadIdx.x; d <= reach; d += blockDim.x) {
      const int other = lower ? i + d : i - d;
      s.y_at(other) = multiply_add(s.element(other, i), solved, s.y_at(other));
    }
    __syncthreads();
  }
}

/// A := A + alpha x op(y)^T where it is stored, with a packed A; Hermitian: with the conjugate of y, and a
/// real diagonal.
template <class T>
__device__ void stored_rank_one(const StoredArguments& g) {
  const Stored<T> s(g);
  T alpha = ScalarOf<T>::read(g.alpha);
  if (g.conjugate_alpha) alpha = conjugate(alpha);
  if (is_zero(alpha)) return;
  const int i = blockIdx.x * kSide + threadIdx.x % kSide;
#pragma unroll 1
  for (int j = blockIdx.y * kLanes + threadIdx.x / kSide; j < g.matrix.n; j += gridDim.y * kLanes) {
    if (i >= g.matrix.m || !s.has(i, j)) continue;
    const T y = g.hermitian ? conjugate(s.y_at(j)) : s.y_at(j);
    T& to = s.at(i, j);
    to = multiply_add(multiply(alpha, s.x_at(i)), y, to);
    if (g.hermitian && i == j) drop_imaginary(to);
  }
}

/// From a packed triangle to that of a whole matrix, or back.
template <class T>
__device__ void stored_copy(const StoredArguments& g) {
  const Stored<T> s(g);
  const int i = blockIdx.x * kSide + threadIdx.x % kSide;
#pragma unroll 1
  for (int j = blockIdx.y * kLanes + threadIdx.x / kSide; j < g.matrix.n; j += gridDim.y * kLanes) {
    if (i >= g.matrix.m || !s.has(i, j)) continue;
    T& whole = static_cast<T*>(g.y)[i + j * g.inc_y];
    if (g.to_packed)
      s.at(i, j) = whole;
    else
      whole = s.at(i, j);
  }
}

}  // namespace lockstep::libraries::blas

#define LOCKSTEP_STORED(name, kernel)                                                              \
  extern "C" __global__ void __launch_bounds__(256)                                                \
      lockstep_blas_##name(const __grid_constant__ lockstep::libraries::blas::StoredArguments g) { \
    using namespace lockstep::libraries::blas;                                                     \
    kernel(g);                                                                                     \
  }
#define LOCKSTEP_STORED_OF(suffix, T)                           \
  LOCKSTEP_STORED(stored_product_##suffix, stored_product<T>)   \
  LOCKSTEP_STORED(stored_solution_##suffix, stored_solution<T>) \
  LOCKSTEP_STORED(stored_rank_one_##suffix, stored_rank_one<T>) \
  LOCKSTEP_STORED(stored_copy_##suffix, stored_copy<T>)
LOCKSTEP_STORED_OF(f32, float)
LOCKSTEP_STORED_OF(f64, double)
LOCKSTEP_STORED_OF(c32, Complex64)
LOCKSTEP_STORED_OF(c64, Complex128)
