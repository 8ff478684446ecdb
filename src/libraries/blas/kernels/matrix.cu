// Matrices element by element, and triangular systems of up to 32 unknowns.
#include "libraries/blas/kernels/numbers.cuh"
#include "libraries/blas/matrix_arguments.hpp"

namespace lockstep::libraries::blas {

constexpr int kSide = 32, kLanes = 8;  // a CTA has a tile of 32 x 32, each thread four elements of a column

/// op(A) at the CTA's tile.
template <class T>
__device__ void load_tile(T (&tile)[kSide][kSide + 1], const T* a, long long ld, int op, int row0,
                          int column0, int m, int n) {
  const int x = threadIdx.x % kSide;
  for (int y = threadIdx.x / kSide; y < kSide; y += kLanes) {
    const int i = row0 + (op == kOpN ? x : y), j = column0 + (op == kOpN ? y : x);
    T value = zero<T>();
    if (i < m && j < n) value = op == kOpN ? a[i + j * ld] : a[j + i * ld];
    if (op == kOpC) value = conjugate(value);
    (op == kOpN ? tile[y][x] : tile[x][y]) = value;
  }
}

template <class T>
__device__ void geam(const MatrixArguments& g) {
  __shared__ T a[kSide][kSide + 1], b[kSide][kSide + 1];
  const T alpha = ScalarOf<T>::read(g.alpha), beta = ScalarOf<T>::read(g.beta);
  const int down = (g.m + kSide - 1) / kSide, x = threadIdx.x % kSide;
  const int row0 = blockIdx.x % down * kSide, column0 = blockIdx.x / down * kSide;
  if (!is_zero(alpha)) load_tile(a, static_cast<const T*>(g.a), g.lda, g.op_a, row0, column0, g.m, g.n);
  if (!is_zero(beta)) load_tile(b, static_cast<const T*>(g.b), g.ldb, g.op_b, row0, column0, g.m, g.n);
  __syncthreads();
  for (int y = threadIdx.x / kSide; y < kSide; y += kLanes) {
    if (row0 + x >= g.m || column0 + y >= g.n) continue;
    T value = zero<T>();
    if (!is_zero(alpha)) value = multiply(alpha, a[y][x]);
    if (!is_zero(beta)) value = multiply_add(beta, b[y][x], value);
    static_cast<T*>(g.c)[row0 + x + (column0 + y) * g.ldc] = value;
  }
}

template <class T>
__device__ void dgmm(const MatrixArguments& g) {
  const int down = (g.m + kSide - 1) / kSide, i = blockIdx.x % down * kSide + threadIdx.x % kSide;
  const int column0 = blockIdx.x / down * kSide;
  for (int y = threadIdx.x / kSide; y < kSide; y += kLanes) {
    const int j = column0 + y;
    if (i >= g.m || j >= g.n) continue;
    const T factor = static_cast<const T*>(g.b)[(g.by_rows ? i : j) * g.ldb];
    static_cast<T*>(g.c)[i + j * g.ldc] = multiply(factor, static_cast<const T*>(g.a)[i + j * g.lda]);
  }
}

/// The base of solutions: 32 right-hand sides by a CTA, four of them by each warp, whose lanes have an
/// element each.
template <class T>
struct Solve {
  static constexpr int kOfWarp = kSide / kLanes;
  struct Tiles {
    T a[kSide][kSide + 1], b[kSide][kSide + 1];  // M by columns; right-hand sides
  };

  __device__ static void load_matrix(const SolveArguments& g, Tiles& tiles, const T* a) {
    const int x = threadIdx.x % kSide;
    for (int y = threadIdx.x / kSide; y < kSide; y += kLanes) {
      T value = zero<T>();
      const bool lower = g.lower != g.across;  // A
      if (x < g.size && y < g.size && (lower ? x >= y : x <= y)) value = a[x + y * g.lda];
      if (g.conjugated) value = conjugate(value);
      (g.across ? tiles.a[x][y] : tiles.a[y][x]) = value;
    }
  }
  __device__ static T* place(const SolveArguments& g, T* b, int element, int vector) {
    return g.along_rows ? b + vector + element * g.ldb : b + element + vector * g.ldb;
  }
  /// body(memory or nullptr, shared memory) for each place of the tile, neighbours with neighbours.
  template <class Move>
  __device__ static void move(const SolveArguments& g, T* b, int first, Tiles& tiles, Move body) {
    const int x = threadIdx.x % kSide;
    for (int y = threadIdx.x / kSide; y < kSide; y += kLanes) {
      const int element = g.along_rows ? y : x, vector = g.along_rows ? x : y;
      const bool exists = element < g.size && first + vector < g.vectors;
      body(exists ? place(g, b, element, first + vector) : nullptr, tiles.b[vector][element]);
    }
  }
  __device__ static void solve(const SolveArguments& g, Tiles& tiles) {
    const int i = threadIdx.x % kSide, warp = threadIdx.x / kSide;
    T(*const b)[kSide + 1] = tiles.b + warp * kOfWarp;
#pragma unroll 1
    for (int step = 0; step < g.size; ++step) {
      const int k = g.lower ? step : g.size - 1 - step;
      if (i < kOfWarp && !g.unit) b[i][k] = divide(b[i][k], tiles.a[k][k]);
      __syncwarp();
      if (i < g.size && (g.lower ? i > k : i < k))
        for (int v = 0; v < kOfWarp; ++v) b[v][i] = multiply_add(negative(tiles.a[k][i]), b[v][k], b[v][i]);
      __syncwarp();
    }
  }
  __device__ static void run(const SolveArguments& g) {
    __shared__ Tiles tiles;
    const int first = blockIdx.x * kSide;
    const T alpha = ScalarOf<T>::read(g.alpha);
    for (long long batch = blockIdx.y; batch < g.batches; batch += gridDim.y) {
      const T* a = g.by_pointers ? static_cast<const T* const*>(g.a)[batch] + g.stride_a
                                 : static_cast<const T*>(g.a) + batch * g.stride_a;
      T* b = g.by_pointers ? static_cast<T* const*>(g.b)[batch] + g.stride_b
                           : static_cast<T*>(g.b) + batch * g.stride_b;
      load_matrix(g, tiles, a);
      move(g, b, first, tiles, [&](const T* memory, T& shared) {
        shared = memory != nullptr ? multiply(alpha, *memory) : zero<T>();
      });
      __syncthreads();
      solve(g, tiles);
      __syncthreads();
      move(g, b, first, tiles, [](T* memory, T& shared) {
        if (memory != nullptr) *memory = shared;
      });
      __syncthreads();
    }
  }
};

}  // namespace lockstep::libraries::blas

#define LOCKSTEP_MATRIX(name, Arguments, ...)                                                \
  extern "C" __global__ void __launch_bounds__(256)                                          \
      lockstep_blas_##name(const __grid_constant__ lockstep::libraries::blas::Arguments g) { \
    using namespace lockstep::libraries::blas;                                               \
    __VA_ARGS__(g);                                                                          \
  }
#define LOCKSTEP_MATRICES(suffix, T)                       \
  LOCKSTEP_MATRIX(geam_##suffix, MatrixArguments, geam<T>) \
  LOCKSTEP_MATRIX(dgmm_##suffix, MatrixArguments, dgmm<T>) \
  LOCKSTEP_MATRIX(solve_##suffix, SolveArguments, Solve<T>::run)

LOCKSTEP_MATRICES(f32, float)
LOCKSTEP_MATRICES(f64, double)
LOCKSTEP_MATRICES(c32, Complex64)
LOCKSTEP_MATRICES(c64, Complex128)
