// What becomes of tensor cores' sums. The type of D, an epilogue and a part of D that is written are known at
// run time only: the same kernels serve all.
#pragma once

#include "libraries/blas/kernels/gemm_output.cuh"

namespace lockstep::libraries::blas {

/// Four rows of a column at a time, where D has all of them and they are aligned.
template <class Out>
struct FourRows {
  using Four = Chunk<Out, 4>;

  __device__ static bool aligned(const void* matrix, long long ld) {
    return ld % 4 == 0 && reinterpret_cast<unsigned long long>(matrix) % sizeof(Four) == 0;
  }
  __device__ static void write(const Output<Out, float, true>& o, Chunk<float, 4> x, int row, int column) {
#pragma unroll
    for (float& one : x.at) one *= o.alpha;
    if (o.c != nullptr) {
      const Four old = *reinterpret_cast<const Four*>(o.c + row + column * o.g.ldc);
#pragma unroll
      for (int e = 0; e < 4; ++e) x.at[e] += o.beta * Convert<float, Out>::of(old.at[e]);
    }
    if (o.g.bias_kind != kNoBias || o.g.activation != kNoActivation)
#pragma unroll 1
      for (int e = 0; e < 4; ++e) {
        const float y = with_epilogue(o.g, x.at[0], row + e, column, o.batch);
        x.at[0] = x.at[1], x.at[1] = x.at[2], x.at[2] = x.at[3], x.at[3] = y;  // no array in memory
      }
    Four y;
#pragma unroll
    for (int e = 0; e < 4; ++e) y.at[e] = Convert<Out, float>::of(x.at[e]);
    *reinterpret_cast<Four*>(o.d + row + column * o.g.ldd) = y;
  }
};

/// A warp writes ROWS x COLUMNS elements of D, whose sums are in shared memory, [COLUMNS][PITCH].
template <class Out, int ROWS, int COLUMNS, int PITCH>
__device__ inline void write_sums_as(const GemmArguments& g, long long batch, const float* sums, int row,
                                     int column) {
  constexpr int kLanesDown = ROWS / 4, kLanesAcross = 32 / kLanesDown;
  const Output<Out, float, true> output(g, batch);
  const int lane = threadIdx.x % 32, i = row + lane % kLanesDown * 4, j = column + lane / kLanesDown;
  const float* const from = sums + lane / kLanesDown * PITCH + lane % kLanesDown * 4;
  const bool whole = row + ROWS <= g.m && column + COLUMNS <= g.n && g.triangle == kWholeMatrix;
  if (whole && FourRows<Out>::aligned(output.d, g.ldd) &&
      (output.c == nullptr || FourRows<Out>::aligned(output.c, g.ldc))) {
#pragma unroll 4
    for (int k = 0; k < COLUMNS; k += kLanesAcross)
      FourRows<Out>::write(output, *reinterpret_cast<const Chunk<float, 4>*>(from + k * PITCH), i, j + k);
    return;
  }
#pragma unroll 1
  for (int k = 0; k < COLUMNS; k += kLanesAcross)
#pragma unroll 1
    for (int e = 0; e < 4; ++e) output.write(i + e, j + k, from[k * PITCH + e]);
}
/// In: of A and B.
template <class In, int ROWS, int COLUMNS, int PITCH>
__device__ inline void write_sums(const GemmArguments& g, long long batch, const float* sums, int row,
                                  int column) {
  if (g.float_result)
    write_sums_as<float, ROWS, COLUMNS, PITCH>(g, batch, sums, row, column);
  else
    write_sums_as<In, ROWS, COLUMNS, PITCH>(g, batch, sums, row, column);
}

}  // namespace lockstep::libraries::blas
