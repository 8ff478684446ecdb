// Eigenvalues of symmetric matrices by Jacobi's rotations. One CTA rotates n / 2 disjoint pairs at a time; n
// - 1 such rounds are a sweep, in which each pair has its turn.
#include "libraries/solver/eigen_arguments.hpp"

namespace lockstep::libraries::solver {

constexpr int kThreads = 256;

template <class T>
struct Jacobi {
  const EigenArguments& e;
  T *a, *whole, *rotated, *rotations, *values;

  __device__ explicit Jacobi(const EigenArguments& arguments) : e(arguments) {
    const long long matrix = blockIdx.x, elements = static_cast<long long>(e.n) * e.n;
    a = static_cast<T*>(e.a) + matrix * e.stride_a;
    whole = static_cast<T*>(e.whole) + matrix * elements;
    rotated = static_cast<T*>(e.rotated) + matrix * elements;
    rotations = static_cast<T*>(e.rotations) + matrix * (e.n + 1);
    values = static_cast<T*>(e.values) + matrix * e.n;
  }
  __device__ T& at(int i, int j) const { return whole[i + static_cast<long long>(j) * e.n]; }

  __device__ void begin() const {
#pragma unroll 1
    for (long long k = threadIdx.x; k < static_cast<long long>(e.n) * e.n; k += kThreads) {
      const int i = static_cast<int>(k % e.n), j = static_cast<int>(k / e.n);
      const bool stored = e.lower ? i >= j : i <= j;
      whole[k] = a[stored ? i + j * e.lda : j + i * e.lda];
      rotated[k] = i == j ? T(1) : T(0);
    }
    __syncthreads();
  }
  __device__ static double sum_of_cta(double value) {
    __shared__ double values[kThreads];
    values[threadIdx.x] = value;
    __syncthreads();
#pragma unroll 1
    for (int half = kThreads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
      __syncthreads();
    }
    value = values[0];
    __syncthreads();
    return value;
  }
  /// Whether what is beside the diagonal no longer counts.
  __device__ bool is_diagonal(double& residual) const {
    constexpr double kRounding = sizeof(T) == 4 ? 6e-8 : 1.1e-16;
    double beside = 0, all = 0;
#pragma unroll 1
    for (long long k = threadIdx.x; k < static_cast<long long>(e.n) * e.n; k += kThreads) {
      const double square = static_cast<double>(whole[k]) * whole[k];
      all += square;
      if (k % e.n != k / e.n) beside += square;
    }
    all = sum_of_cta(all), beside = sum_of_cta(beside);
    residual = sqrt(beside);
    return beside <= kRounding * kRounding * e.n * all;
  }
  /// Pair k of a round, as in a tournament of `players`, the last of which keeps its place. False: it has a
  /// player too many.
  __device__ bool pair(int round, int k, int players, int& p, int& q) const {
    const int moving = players - 1, a = k == 0 ? moving : (round + k) % moving,
              b = (round + moving - k) % moving;
    p = min(a, b), q = max(a, b);
    return q < e.n;
  }
  __device__ void choose(int round, int players) const {
#pragma unroll 1
    for (int k = threadIdx.x; k < players / 2; k += kThreads) {
      int p, q;
      T c = 1, s = 0;
      if (pair(round, k, players, p, q) && at(p, q) != 0) {
        const T tau = (at(q, q) - at(p, p)) / (2 * at(p, q));
        const T t = copysign(T(1), tau) / (fabs(tau) + hypot(T(1), tau));
        c = 1 / sqrt(1 + t * t), s = t * c;
      }
      rotations[2 * k] = c, rotations[2 * k + 1] = s;
    }
    __syncthreads();
  }
  __device__ static void rotate(T& x, T& y, T c, T s) {
    const T kept = x;
    x = c * kept - s * y;
    y = s * kept + c * y;
  }
  /// All pairs' rows, or their columns and those of the product of rotations.
  template <bool ROWS>
  __device__ void rotate_all(int round, int players) const {
#pragma unroll 1
    for (long long place = threadIdx.x; place < static_cast<long long>(players / 2) * e.n;
         place += kThreads) {
      const int k = static_cast<int>(place / e.n), i = static_cast<int>(place % e.n);
      int p, q;
      if (!pair(round, k, players, p, q)) continue;
      const T c = rotations[2 * k], s = rotations[2 * k + 1];
      if (ROWS) {
        rotate(at(p, i), at(q, i), c, s);
      } else {
        rotate(at(i, p), at(i, q), c, s);
        if (i == p) at(i, q) = 0;  // but for rounding
        if (i == q) at(i, p) = 0;
        rotate(rotated[i + static_cast<long long>(p) * e.n], rotated[i + static_cast<long long>(q) * e.n], c,
               s);
      }
    }
    __syncthreads();
  }
  /// Of how many values that are not wanted: smaller ones, and (HIGH) all up to the last that is.
  template <bool HIGH>
  __device__ int limit() const {
    if (e.range == kAllValues) return HIGH ? e.n : 0;
    if (e.range == kValuesByIndex) return HIGH ? e.last : e.first;
    int count = 0;
#pragma unroll 1
    for (int j = 0; j < e.n; ++j) count += at(j, j) <= (HIGH ? e.high : e.low);
    return count;
  }
  __device__ void finish() const {
    const int first = limit<false>(), last = limit<true>();
    if (e.found != nullptr && threadIdx.x == 0) *e.found = max(0, last - first);
#pragma unroll 1
    for (int i = threadIdx.x; i < e.n; i += kThreads) {
      int place = e.unsorted ? i : 0;
#pragma unroll 1
      for (int j = 0; j < e.n && !e.unsorted; ++j)
        place += at(j, j) < at(i, i) || (at(j, j) == at(i, i) && j < i);
      if (place >= first) values[place - first] = at(i, i);  // as NVIDIA's: larger ones, too
      rotations[i] = static_cast<T>(place);
    }
    __syncthreads();
    if (!e.vectors) return;
#pragma unroll 1
    for (long long k = threadIdx.x; k < static_cast<long long>(e.n) * e.n; k += kThreads) {
      const int place = static_cast<int>(rotations[k / e.n]);
      if (place >= first && place < last) a[k % e.n + (place - first) * e.lda] = rotated[k];
    }
  }
};

template <class T>
__device__ void eigen(const EigenArguments& e) {
  if (e.before != nullptr && *e.before != 0) {
    if (threadIdx.x == 0) *e.info = e.n + *e.before;
    return;
  }
  const Jacobi<T> jacobi(e);
  const int players = (e.n + 1) / 2 * 2;
  jacobi.begin();
  int sweep = 0;
  double residual = 0;
  bool diagonal = jacobi.is_diagonal(residual);
#pragma unroll 1
  for (; sweep < e.max_sweeps && !diagonal; ++sweep) {
#pragma unroll 1
    for (int round = 0; round < players - 1; ++round) {
      jacobi.choose(round, players);
      jacobi.template rotate_all<true>(round, players);
      jacobi.template rotate_all<false>(round, players);
    }
    diagonal = jacobi.is_diagonal(residual);
  }
  jacobi.finish();
  if (threadIdx.x != 0) return;
  e.info[blockIdx.x] = diagonal ? 0 : e.failure;
  if (e.residual == nullptr || blockIdx.x != 0) return;
  *e.residual = residual;
  *e.sweeps = sweep;
}

}  // namespace lockstep::libraries::solver

#define LOCKSTEP_EIGEN(name, T)                                                                       \
  extern "C" __global__ void __launch_bounds__(256)                                                   \
      lockstep_solver_##name(const __grid_constant__ lockstep::libraries::solver::EigenArguments e) { \
    lockstep::libraries::solver::eigen<T>(e);                                                         \
  }
LOCKSTEP_EIGEN(eigen_f32, float)
LOCKSTEP_EIGEN(eigen_f64, double)
