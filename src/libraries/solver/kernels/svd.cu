// Singular values by one-sided Jacobi rotations (Hestenes): columns are rotated until all are orthogonal to
// each other; their lengths are the singular values. One CTA has a matrix, each warp a pair of columns at a
// time.
#include "libraries/solver/svd_arguments.hpp"

namespace lockstep::libraries::solver {

constexpr int kThreads = 256, kWarp = 32, kWarps = kThreads / kWarp;

__device__ inline double sum_of_warp(double value) {
#pragma unroll
  for (int half = kWarp / 2; half > 0; half /= 2) value += __shfl_xor_sync(~0u, value, half);
  return value;
}

template <class T>
struct Vectors {
  T* data;
  long long ld;
  int columns, transposed;

  __device__ Vectors(const SingularVectors& v, long long matrix)
      : data(static_cast<T*>(v.data) + matrix * v.stride),
        ld(v.ld),
        columns(v.columns),
        transposed(v.transposed) {}
  __device__ T& at(int i, int j) const { return transposed ? data[j + i * ld] : data[i + j * ld]; }
};

template <class T>
struct Svd {
  static constexpr double kRounding = sizeof(T) == 4 ? 1.2e-7 : 2.3e-16;

  const SvdArguments& g;
  const long long matrix = blockIdx.x;
  const int rows, columns, warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  T *tall, *right;
  double *norms, *places, *products;
  Vectors<T> left_out, right_out;
  double scale = 1;

  __device__ explicit Svd(const SvdArguments& arguments)
      : g(arguments),
        rows(max(g.m, g.n)),
        columns(min(g.m, g.n)),
        tall(static_cast<T*>(g.tall) + matrix * rows * columns),
        right(static_cast<T*>(g.right) + matrix * columns * columns),
        norms(g.numbers + matrix * (2 * columns + rows)),
        places(norms + columns),
        products(places + columns),
        left_out(g.m >= g.n ? g.u : g.v, matrix),
        right_out(g.m >= g.n ? g.v : g.u, matrix) {}
  __device__ T& tall_at(int i, int j) const { return tall[i + static_cast<long long>(j) * rows]; }
  __device__ T& right_at(int i, int j) const { return right[i + static_cast<long long>(j) * columns]; }

  /// Of the CTA: sums, or the largest (where `index` is given, with the first of its indices).
  template <bool SUM>
  __device__ static double reduce(double value, int* index = nullptr) {
    __shared__ double values[kThreads];
    __shared__ int indices[kThreads];
    values[threadIdx.x] = value;
    indices[threadIdx.x] = index != nullptr ? *index : 0;
    __syncthreads();
#pragma unroll 1
    for (int half = kThreads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) {
        double& mine = values[threadIdx.x];
        const double other = values[threadIdx.x + half];
        if (SUM) {
          mine += other;
        } else if (!(mine >= other) ||
                   (mine == other && indices[threadIdx.x + half] < indices[threadIdx.x])) {
          mine = other, indices[threadIdx.x] = indices[threadIdx.x + half];
        }
      }
      __syncthreads();
    }
    value = values[0];
    if (index != nullptr) *index = indices[0];
    __syncthreads();
    return value;
  }

  /// With elements scaled by a power of two, so that squares neither overflow nor vanish.
  __device__ void begin() {
    const T* const a = static_cast<const T*>(g.a) + matrix * g.stride_a;
    const auto element = [&](int i, int j) { return g.m >= g.n ? a[i + j * g.lda] : a[j + i * g.lda]; };
    double largest = 0;
#pragma unroll 1
    for (long long k = threadIdx.x; k < static_cast<long long>(rows) * columns; k += kThreads)
      largest = fmax(largest, fabs(static_cast<double>(element(k % rows, k / rows))));
    largest = reduce<false>(largest);
    if (largest > 0) scale = scalbn(1.0, ilogb(largest));
#pragma unroll 1
    for (long long k = threadIdx.x; k < static_cast<long long>(rows) * columns; k += kThreads)
      tall[k] = static_cast<T>(element(k % rows, k / rows) / scale);
#pragma unroll 1
    for (long long k = threadIdx.x; k < static_cast<long long>(columns) * columns; k += kThreads)
      right[k] = k % columns == k / columns ? T(1) : T(0);
    __syncthreads();
  }

  __device__ void rotate(T* x, T* y, int count, double c, double s) const {
#pragma unroll 1
    for (int i = lane; i < count; i += kWarp) {
      const double kept = x[i], other = y[i];
      x[i] = static_cast<T>(c * kept - s * other);
      y[i] = static_cast<T>(s * kept + c * other);
    }
  }
  /// A column that is nothing but rounding.
  __device__ bool vanishes(double square, int column) const {
    constexpr double kSmallest = kRounding * kRounding;
    if (square > kSmallest * kSmallest || square != square) return false;
#pragma unroll 1
    for (int i = lane; i < rows && square > 0; i += kWarp) tall_at(i, column) = 0;
    return true;
  }
  /// Makes two columns orthogonal; false: they are. Adds the squares of what is beside the diagonal.
  __device__ bool rotate_pair(int p, int q, double& beside) const {
    T *x = &tall_at(0, p), *y = &tall_at(0, q);
    double xx = 0, yy = 0, xy = 0;
#pragma unroll 1
    for (int i = lane; i < rows; i += kWarp) {
      const double a = x[i], b = y[i];
      xx += a * a, yy += b * b, xy += a * b;
    }
    xx = sum_of_warp(xx), yy = sum_of_warp(yy), xy = sum_of_warp(xy);
    const bool no_x = vanishes(xx, p), no_y = vanishes(yy, q);
    if (no_x || no_y) return false;
    beside += xy * xy / xx + xy * xy / yy;
    if (fabs(xy) <= 2 * kRounding * sqrt(static_cast<double>(rows)) * sqrt(xx) * sqrt(yy)) return false;
    const double zeta = (yy - xx) / (2 * xy);
    const double t = copysign(1.0, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta)), c = 1 / sqrt(1 + t * t);
    rotate(x, y, rows, c, c * t);
    rotate(&right_at(0, p), &right_at(0, q), columns, c, c * t);
    return true;
  }
  /// Each pair of columns once, in rounds of disjoint pairs as in a tournament. True: none was rotated.
  __device__ bool sweep(double& residual) const {
    const int players = (columns + 1) / 2 * 2, moving = players - 1;
    double beside = 0;
    int rotated = 0;
#pragma unroll 1
    for (int round = 0; round < moving; ++round) {
#pragma unroll 1
      for (int k = warp; k < players / 2; k += kWarps) {
        const int a = k == 0 ? moving : (round + k) % moving, b = (round + moving - k) % moving;
        if (max(a, b) < columns) rotated |= rotate_pair(min(a, b), max(a, b), beside);
      }
      __syncthreads();
    }
    residual = sqrt(reduce<true>(lane == 0 ? beside : 0)) * scale;
    return __syncthreads_or(rotated) == 0;
  }

  __device__ double key(int column) const {
    return g.unsorted ? static_cast<double>(norms[column] > 0) : norms[column];
  }
  /// Lengths of the columns and the places that they have in order; returns how many are not zero.
  __device__ int sort() const {
#pragma unroll 1
    for (int j = warp; j < columns; j += kWarps) {
      double square = 0;
#pragma unroll 1
      for (int i = lane; i < rows; i += kWarp) square += static_cast<double>(tall_at(i, j)) * tall_at(i, j);
      square = sum_of_warp(square);
      const bool none = vanishes(square, j);
      if (lane == 0) norms[j] = none ? 0 : sqrt(square);
    }
    __syncthreads();
    int count = 0;
#pragma unroll 1
    for (int j = threadIdx.x; j < columns; j += kThreads) {
      int place = 0;
#pragma unroll 1
      for (int k = 0; k < columns; ++k) place += key(k) > key(j) || (key(k) == key(j) && k < j);
      places[j] = place;
      static_cast<T*>(g.values)[matrix * columns + place] = static_cast<T>(norms[j] * scale);
      count += norms[j] > 0;
    }
    return static_cast<int>(reduce<true>(count));
  }
  __device__ void write() const {
#pragma unroll 1
    for (int j = warp; j < columns; j += kWarps) {
      const int place = static_cast<int>(places[j]);
      if (left_out.columns > 0 && norms[j] > 0)
#pragma unroll 1
        for (int i = lane; i < rows; i += kWarp)
          left_out.at(i, place) = static_cast<T>(tall_at(i, j) / norms[j]);
      if (right_out.columns > 0)
#pragma unroll 1
        for (int i = lane; i < columns; i += kWarp) right_out.at(i, place) = right_at(i, j);
    }
    __syncthreads();
  }
  /// Takes from column `c` what it has in the direction of those before it.
  __device__ void make_orthogonal(int c) const {
#pragma unroll 1
    for (int j = warp; j < c; j += kWarps) {
      double product = 0;
#pragma unroll 1
      for (int i = lane; i < rows; i += kWarp)
        product += static_cast<double>(left_out.at(i, j)) * left_out.at(i, c);
      product = sum_of_warp(product);
      if (lane == 0) products[j] = product;
    }
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < rows; i += kThreads) {
      double value = left_out.at(i, c);
#pragma unroll 1
      for (int j = 0; j < c; ++j) value -= products[j] * left_out.at(i, j);
      left_out.at(i, c) = static_cast<T>(value);
    }
    __syncthreads();
  }
  /// The left vectors from `first` on, which no column gives: of the unit vectors each time the one that is
  /// farthest from what there is.
  __device__ void complete(int first) const {
#pragma unroll 1
    for (int c = first; c < left_out.columns; ++c) {
      double best = -1;
      int unit = 0;
#pragma unroll 1
      for (int i = threadIdx.x; i < rows; i += kThreads) {
        double rest = 1;
#pragma unroll 1
        for (int j = 0; j < c; ++j) rest -= static_cast<double>(left_out.at(i, j)) * left_out.at(i, j);
        if (rest > best) best = rest, unit = i;
      }
      reduce<false>(best, &unit);
#pragma unroll 1
      for (int i = threadIdx.x; i < rows; i += kThreads) left_out.at(i, c) = i == unit ? T(1) : T(0);
      __syncthreads();
#pragma unroll 1
      for (int pass = 0; pass < 2; ++pass) make_orthogonal(c);
      double square = 0;
#pragma unroll 1
      for (int i = threadIdx.x; i < rows; i += kThreads)
        square += static_cast<double>(left_out.at(i, c)) * left_out.at(i, c);
      const double norm = sqrt(reduce<true>(square));
#pragma unroll 1
      for (int i = threadIdx.x; i < rows; i += kThreads)
        left_out.at(i, c) = static_cast<T>(left_out.at(i, c) / norm);
      __syncthreads();
    }
  }
};

template <class T>
__device__ void singular_values(const SvdArguments& g) {
  Svd<T> svd(g);
  svd.begin();
  bool orthogonal = false;
  double residual = 0;
  int sweeps = 0;
#pragma unroll 1
  while (!orthogonal && sweeps < g.max_sweeps) {
    orthogonal = svd.sweep(residual);
    ++sweeps;
  }
  const int count = svd.sort();
  svd.write();
  svd.complete(count);
  if (threadIdx.x != 0) return;
  g.info[svd.matrix] = orthogonal ? 0 : g.failure;
  if (g.residual == nullptr || svd.matrix != 0) return;
  *g.residual = residual;
  *g.sweeps = sweeps;
}

}  // namespace lockstep::libraries::solver

#define LOCKSTEP_SVD(name, T)                                                                       \
  extern "C" __global__ void __launch_bounds__(256)                                                 \
      lockstep_solver_##name(const __grid_constant__ lockstep::libraries::solver::SvdArguments g) { \
    lockstep::libraries::solver::singular_values<T>(g);                                             \
  }
LOCKSTEP_SVD(svd_f32, float)
LOCKSTEP_SVD(svd_f64, double)
