// What becomes of tensor cores' sums. The type of D, an epilogue and the part of D that is written are known
// at run time only: the same kernels serve all.
#pragma once

#include "libraries/blas/kernels/gemm_output.cuh"

namespace lockstep::libraries::blas {

/// In: of A and B; C and D have it, too, or are floats.
template <class In>
struct TensorOutput {
  const GemmArguments& g;
  float alpha, beta;
  const void* c;
  void* d;
  long long batch;
  bool epilogue;

  __device__ explicit TensorOutput(const GemmArguments& arguments)
      : g(arguments),
        alpha(ScalarOf<float>::read(arguments.alpha)),
        beta(ScalarOf<float>::read(arguments.beta)),
        epilogue(g.bias_kind != kNoBias || g.activation != kNoActivation) {}
  __device__ void choose(long long b) {
    batch = b;
    c = nullptr;
    if (g.float_result) {
      d = result_of<float>(g, b);
      if (!is_zero(beta)) c = matrix_of<float>(g, g.c, g.stride_c, b);
    } else {
      d = result_of<In>(g, b);
      if (!is_zero(beta)) c = matrix_of<In>(g, g.c, g.stride_c, b);
    }
  }
  /// A warp writes ROWS x COLUMNS elements, whose sums are in shared memory, [COLUMNS][PITCH].
  template <int ROWS, int COLUMNS, int PITCH>
  __device__ void write(const float* sums, int row, int column) const {
    constexpr int kLanesDown = ROWS / 4, kLanesAcross = 32 / kLanesDown, kRounds = COLUMNS / kLanesAcross;
    const int lane = threadIdx.x % 32, i = row + lane % kLanesDown * 4, j = column + lane / kLanesDown;
    const float* const from = sums + lane / kLanesDown * PITCH + lane % kLanesDown * 4;
    const bool whole = row + ROWS <= g.m && column + COLUMNS <= g.n && g.triangle == kWholeMatrix;
    if (whole && g.float_result && aligned<float>())
      write_whole<float, kRounds, kLanesAcross, PITCH>(from, i, j);
    else if (whole && !g.float_result && aligned<In>())
      write_whole<In, kRounds, kLanesAcross, PITCH>(from, i, j);
    else
#pragma unroll 1
      for (int e = 0; e < 4 * kRounds; ++e)
        write_one(from[e / 4 * kLanesAcross * PITCH + e % 4], i + e % 4, j + e / 4 * kLanesAcross);
  }

 private:
  template <class Out>
  using Four = Chunk<Out, 4>;

  template <class Out>
  __device__ static bool aligned(const void* matrix, long long ld) {
    return ld % 4 == 0 && reinterpret_cast<unsigned long long>(matrix) % sizeof(Four<Out>) == 0;
  }
  template <class Out>
  __device__ bool aligned() const {
    return aligned<Out>(d, g.ldd) && (c == nullptr || aligned<Out>(c, g.ldc));
  }
  /// Four rows of a column at a time.
  template <class Out, int ROUNDS, int ACROSS, int PITCH>
  __device__ void write_whole(const float* from, int row, int column) const {
    Out* to = global(static_cast<Out*>(d) + row + column * g.ldd);
    const long long step = ACROSS * g.ldd;
    if (c == nullptr && !epilogue) {
      constexpr int kTogether = 4;
#pragma unroll 1
      for (int k = 0; k < ROUNDS; k += kTogether, from += kTogether * ACROSS * PITCH) {
        Four<float> x[kTogether];
#pragma unroll
        for (int e = 0; e < kTogether; ++e)
          x[e] = *reinterpret_cast<const Four<float>*>(from + e * ACROSS * PITCH);
#pragma unroll
        for (int e = 0; e < kTogether; ++e, to += step) {
#pragma unroll
          for (float& one : x[e].at) one *= alpha;
          store(to, x[e]);
        }
      }
      return;
    }
#pragma unroll 1
    for (int k = 0; k < ROUNDS; ++k, to += step, column += ACROSS) {
      Four<float> x = *reinterpret_cast<const Four<float>*>(from + k * ACROSS * PITCH);
#pragma unroll
      for (float& one : x.at) one *= alpha;
      if (c != nullptr) {
        const auto old =
            *reinterpret_cast<const Four<Out>*>(global(static_cast<const Out*>(c) + row + column * g.ldc));
#pragma unroll
        for (int e = 0; e < 4; ++e) x.at[e] += beta * Convert<float, Out>::of(old.at[e]);
      }
      if (epilogue)
#pragma unroll 1
        for (int e = 0; e < 4; ++e) {  // turned round, so that it is no array in memory
          const float y = with_epilogue(g, x.at[0], row + e, column, batch);
          x.at[0] = x.at[1], x.at[1] = x.at[2], x.at[2] = x.at[3], x.at[3] = y;
        }
      store(to, x);
    }
  }
  template <class Out>
  __device__ static void store(Out* to, const Four<float>& x) {
    Four<Out> y;
#pragma unroll
    for (int e = 0; e < 4; ++e) y.at[e] = Convert<Out, float>::of(x.at[e]);
    *reinterpret_cast<Four<Out>*>(to) = y;
  }
  __device__ void write_one(float sum, int row, int column) const {
    if (row >= g.m || column >= g.n) return;
    if ((g.triangle == kLowerTriangle && row < column) || (g.triangle == kUpperTriangle && row > column))
      return;
    const long long old = row + column * g.ldc, to = row + column * g.ldd;
    float x = alpha * sum;
    if (c != nullptr)
      x += beta * (g.float_result ? static_cast<const float*>(c)[old]
                                  : Convert<float, In>::of(static_cast<const In*>(c)[old]));
    if (epilogue) x = with_epilogue(g, x, row, column, batch);
    if (g.float_result)
      static_cast<float*>(d)[to] = x;
    else
      static_cast<In*>(d)[to] = Convert<In, float>::of(x);
  }
};

}  // namespace lockstep::libraries::blas
