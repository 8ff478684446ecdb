// The ends of matrix products: where a batch's matrices are, and what becomes of a sum of products.
#pragma once

#include "libraries/blas/kernels/numbers.cuh"

namespace lockstep::libraries::blas {

template <class T>
__device__ const T* matrix_of(const GemmArguments& g, const void* base, long long stride, long long batch) {
  return g.by_pointers ? static_cast<const T* const*>(base)[batch] + stride
                       : static_cast<const T*>(base) + batch * stride;
}
template <class T>
__device__ T* result_of(const GemmArguments& g, long long batch) {
  return g.by_pointers ? static_cast<T* const*>(g.d)[batch] + g.stride_d
                       : static_cast<T*>(g.d) + batch * g.stride_d;
}

__device__ inline float bias_at(const GemmArguments& g, long long i) {
  if (g.bias_type == kBiasHalf) return to_float(static_cast<const Half*>(g.bias)[i]);
  if (g.bias_type == kBiasBfloat) return to_float(static_cast<const Bfloat*>(g.bias)[i]);
  return static_cast<const float*>(g.bias)[i];
}

/// GELU by its approximation with tanh, as NVIDIA documents it.
__device__ inline float gelu(float x) {
  const float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
  return 0.5f * x * (1.0f + tanhf(inner));
}

__device__ inline float with_epilogue(const GemmArguments& g, float x, int row, int column, long long batch) {
  if (g.bias_kind != kNoBias)
    x += bias_at(g, batch * g.stride_bias + (g.bias_kind == kBiasByRow ? row : column));
  if (g.activation == kRelu) x = x > 0.0f || x != x ? x : 0.0f;
  if (g.activation == kGelu) x = gelu(x);
  return x;
}

/// Writes elements of D. C is not read where beta is zero.
template <class Out, class Acc, bool EPILOGUE>
struct Output {
  const GemmArguments& g;
  const Out* c;
  Out* d;
  Acc alpha, beta;
  long long batch;

  __device__ Output(const GemmArguments& arguments, long long b)
      : g(arguments),
        c(nullptr),
        d(result_of<Out>(arguments, b)),
        alpha(ScalarOf<Acc>::read(arguments.alpha)),
        beta(ScalarOf<Acc>::read(arguments.beta)),
        batch(b) {
    if (!is_zero(beta)) c = matrix_of<Out>(g, g.c, g.stride_c, b);
  }
  __device__ void write(int row, int column, Acc sum) const {
    if (row >= g.m || column >= g.n) return;
    if ((g.triangle == kLowerTriangle && row < column) || (g.triangle == kUpperTriangle && row > column))
      return;
    Acc x = multiply(alpha, sum);
    if (c != nullptr) x = multiply_add(beta, Convert<Acc, Out>::of(c[row + column * g.ldc]), x);
    if (g.real_diagonal && row == column) drop_imaginary(x);
    if constexpr (EPILOGUE) x = with_epilogue(g, x, row, column, batch);
    d[row + column * g.ldd] = Convert<Out, Acc>::of(x);
  }
};

/// Whether a tile has elements that are written.
__device__ inline bool in_triangle(const GemmArguments& g, int row, int rows, int column, int columns) {
  if (g.triangle == kLowerTriangle) return row + rows > column;
  if (g.triangle == kUpperTriangle) return column + columns > row;
  return true;
}

/// One operand's tile of ROWS x DEPTH, from global memory by registers into shared memory [DEPTH][PITCH].
/// Threads that are neighbours read neighbours, whichever way the matrix lies.
template <class In, class Stored, int ROWS, int DEPTH, int PITCH, int THREADS>
struct TileLoader {
  static constexpr int kCount = ROWS * DEPTH / THREADS;
  static_assert(THREADS % ROWS == 0 && THREADS % DEPTH == 0 && ROWS * DEPTH % THREADS == 0);
  const In* at;
  long long step, tile_step;
  int row, k, row_step, k_step;  // this thread's first element and the way to its next
  int rows, depth;               // of the matrix
  bool conjugated;
  In values[kCount];

  /// `along_k`: neighbours in memory have neighbouring k.
  __device__ TileLoader(const In* matrix, long long ld, bool along_k, bool conjugate, int first, int all,
                        int all_k)
      : rows(all), depth(all_k), conjugated(conjugate) {
    const int thread = static_cast<int>(threadIdx.x);
    k = along_k ? thread % DEPTH : thread / ROWS;
    row = first + (along_k ? thread / DEPTH : thread % ROWS);
    row_step = along_k ? THREADS / DEPTH : 0;
    k_step = along_k ? 0 : THREADS / ROWS;
    const long long row_stride = along_k ? ld : 1, k_stride = along_k ? 1 : ld;
    at = matrix + row * row_stride + k * k_stride;
    step = row_step * row_stride + k_step * k_stride;
    tile_step = DEPTH * k_stride;
  }
  __device__ void load() {
    const In* from = at;
#pragma unroll
    for (int i = 0; i < kCount; ++i, from += step)
      values[i] = row + i * row_step < rows && k + i * k_step < depth ? *from : In{};
    at += tile_step;
    depth -= DEPTH;
  }
  __device__ void store(Stored* tile, int first) const {
    Stored* to = tile + k * PITCH + row - first;
    const int to_step = k_step * PITCH + row_step;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Stored value = Convert<Stored, In>::of(values[i]);
      to[i * to_step] = conjugated ? blas::conjugate(value) : value;
    }
  }
};

}  // namespace lockstep::libraries::blas
