// The ends of matrix products: where a batch's matrices are, and what becomes of a sum of products.
#pragma once

#include "libraries/blas/kernels/numbers.cuh"

namespace lockstep::libraries::blas {

/// Tells the compiler that matrices are in global memory.
template <class T>
__device__ T* global(T* pointer) {
  __builtin_assume(__isGlobal(pointer));
  return pointer;
}
template <class T>
__device__ const T* matrix_of(const GemmArguments& g, const void* base, long long stride, long long batch) {
  return global(g.by_pointers ? static_cast<const T* const*>(base)[batch] + stride
                              : static_cast<const T*>(base) + batch * stride);
}
template <class T>
__device__ T* result_of(const GemmArguments& g, long long batch) {
  return global(g.by_pointers ? static_cast<T* const*>(g.d)[batch] + g.stride_d
                              : static_cast<T*>(g.d) + batch * g.stride_d);
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
    write(row, column, sum, row + column * g.ldc, row + column * g.ldd);
  }
  /// The same where the element's places in C and D are known.
  __device__ void write(int row, int column, Acc sum, long long from, long long to) const {
    if (row >= g.m || column >= g.n) return;
    if ((g.triangle == kLowerTriangle && row < column) || (g.triangle == kUpperTriangle && row > column))
      return;
    Acc x = multiply(alpha, sum);
    if (c != nullptr) x = multiply_add(beta, Convert<Acc, Out>::of(c[from]), x);
    if (g.real_diagonal && row == column) drop_imaginary(x);
    if constexpr (EPILOGUE) x = with_epilogue(g, x, row, column, batch);
    d[to] = Convert<Out, Acc>::of(x);
  }
};

/// Whether a tile has elements that are written.
__device__ inline bool in_triangle(const GemmArguments& g, int row, int rows, int column, int columns) {
  if (g.triangle == kLowerTriangle) return row + rows > column;
  if (g.triangle == kUpperTriangle) return column + columns > row;
  return true;
}

/// COUNT neighbours, moved by one access where they are aligned.
template <class T, int COUNT>
struct alignas(sizeof(T) * COUNT) Chunk {
  T at[COUNT];
};

/// One operand's tile of ROWS x DEPTH, from global memory by registers into shared memory [DEPTH][PITCH].
/// Threads that are neighbours read neighbours, whichever way the matrix lies, and each of them up to 16
/// bytes at a time.
template <class In, class Stored, int ROWS, int DEPTH, int PITCH, int THREADS>
struct TileLoader {
  static constexpr int kCount = ROWS * DEPTH / THREADS, kLargest = 16 / sizeof(In);
  static constexpr int kChunk = kCount < kLargest ? kCount : kLargest, kChunks = kCount / kChunk;
  static constexpr int kDown = ROWS / kChunk, kDeep = DEPTH / kChunk;  // chunks along a column, along a row
  static_assert(ROWS % kChunk == 0 && DEPTH % kChunk == 0 && THREADS % kDown == 0 && THREADS % kDeep == 0);
  const In* at;
  long long step, tile_step;
  int row, k, row_step, k_step;  // this thread's first chunk and the way to its next
  int rows, depth;               // of the matrix
  bool by_rows, conjugated, aligned;
  Chunk<In, kChunk> chunks[kChunks];

  /// `along_k`: neighbours in memory have neighbouring k.
  __device__ TileLoader(const In* matrix, long long ld, bool along_k, bool conjugate, int first, int all,
                        int all_k)
      : rows(all), depth(all_k), by_rows(along_k), conjugated(conjugate) {
    const int thread = static_cast<int>(threadIdx.x);
    k = along_k ? thread % kDeep * kChunk : thread / kDown;
    row = first + (along_k ? thread / kDeep : thread % kDown * kChunk);
    row_step = along_k ? THREADS / kDeep : 0;
    k_step = along_k ? 0 : THREADS / kDown;
    aligned =
        ld % kChunk == 0 && reinterpret_cast<unsigned long long>(matrix) % sizeof(Chunk<In, kChunk>) == 0;
    const long long row_stride = along_k ? ld : 1, k_stride = along_k ? 1 : ld;
    at = matrix + row * row_stride + k * k_stride;
    step = row_step * row_stride + k_step * k_stride;
    tile_step = DEPTH * k_stride;
  }
  __device__ void load() {
    const In* from = at;
#pragma unroll
    for (int c = 0; c < kChunks; ++c, from += step) {
      const int left_rows = rows - row - c * row_step, left_k = depth - k - c * k_step;
      const int across = by_rows ? left_rows : left_k, along = by_rows ? left_k : left_rows;
      const int count = across > 0 ? along : 0;
      if (aligned && count >= kChunk) {
        chunks[c] = *reinterpret_cast<const Chunk<In, kChunk>*>(from);
        continue;
      }
#pragma unroll
      for (int i = 0; i < kChunk; ++i) chunks[c].at[i] = i < count ? from[i] : In{};
    }
    at += tile_step;
    depth -= DEPTH;
  }
  __device__ void store(Stored* tile, int first) const {
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      Chunk<Stored, kChunk> values;
#pragma unroll
      for (int i = 0; i < kChunk; ++i) {
        const Stored value = Convert<Stored, In>::of(chunks[c].at[i]);
        values.at[i] = conjugated ? blas::conjugate(value) : value;
      }
      Stored* const to = tile + (k + c * k_step) * PITCH + row + c * row_step - first;
      if (by_rows) {
#pragma unroll
        for (int i = 0; i < kChunk; ++i) to[i * PITCH] = values.at[i];
      } else {
        *reinterpret_cast<Chunk<Stored, kChunk>*>(to) = values;
      }
    }
  }
};

}  // namespace lockstep::libraries::blas
