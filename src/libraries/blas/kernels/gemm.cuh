// Matrix products by tiles in shared memory and registers, with multiply-adds of the accumulator's type.
#pragma once

#include "libraries/blas/kernels/gemm_output.cuh"

namespace lockstep::libraries::blas {

/// A CTA computes BM x BN elements, each thread TM x TN of them, in steps of BK; two tiles of each operand
/// are in shared memory, so that one is loaded while the other is computed with.
template <class In, class Out, class Acc, int BM, int BN, int BK, int TM, int TN, bool EPILOGUE>
struct TiledGemm {
  static constexpr int kRows = BM / TM, kThreads = kRows * (BN / TN);
  static constexpr int kVector =
      16 / sizeof(Acc) < TM ? 16 / sizeof(Acc) : TM;  // elements of one shared access
  static constexpr int kPad = 16 / sizeof(Acc);
  using A = TileLoader<In, Acc, BM, BK, BM + kPad, kThreads>;
  using B = TileLoader<In, Acc, BN, BK, BN + kPad, kThreads>;
  struct alignas(sizeof(Acc) * kVector) Vector {
    Acc at[kVector];
  };
  struct Tiles {
    alignas(16) Acc a[2][BK * (BM + kPad)];
    alignas(16) Acc b[2][BK * (BN + kPad)];
  };

  template <int COUNT, int ACROSS>
  __device__ static void read(Acc (&to)[COUNT], const Acc* row, int place) {
#pragma unroll
    for (int group = 0; group < COUNT / kVector; ++group) {
      const Vector v = *reinterpret_cast<const Vector*>(row + group * ACROSS * kVector + place * kVector);
#pragma unroll
      for (int i = 0; i < kVector; ++i) to[group * kVector + i] = v.at[i];
    }
  }
  __device__ static void compute(const Acc* a, const Acc* b, int x, int y, Acc (&sums)[TM][TN]) {
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      Acc column[TM], row[TN];
      read<TM, kRows>(column, a + k * (BM + kPad), x);
      read<TN, BN / TN>(row, b + k * (BN + kPad), y);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sums[i][j] = multiply_add(column[i], row[j], sums[i][j]);
    }
  }
  __device__ static void multiply_tiles(const GemmArguments& g, Tiles& tiles, int row0, int column0,
                                        long long batch, Acc (&sums)[TM][TN]) {
    A a(matrix_of<In>(g, g.a, g.stride_a, batch), g.lda, g.op_a != kOpN, g.op_a == kOpC, row0, g.m, g.k);
    B b(matrix_of<In>(g, g.b, g.stride_b, batch), g.ldb, g.op_b == kOpN, g.op_b == kOpC, column0, g.n, g.k);
    const int x = threadIdx.x % kRows, y = threadIdx.x / kRows, steps = (g.k + BK - 1) / BK;
    a.load();
    b.load();
    a.store(tiles.a[0], row0);
    b.store(tiles.b[0], column0);
    __syncthreads();
    for (int step = 0; step < steps; ++step) {
      const bool more = step + 1 < steps;
      if (more) {
        a.load();
        b.load();
      }
      compute(tiles.a[step & 1], tiles.b[step & 1], x, y, sums);
      if (more) {
        a.store(tiles.a[step + 1 & 1], row0);
        b.store(tiles.b[step + 1 & 1], column0);
      }
      __syncthreads();
    }
  }
  __device__ static void run(const GemmArguments& g) {
    __shared__ Tiles tiles;
    const int across = (g.m + BM - 1) / BM;
    const int row0 = static_cast<int>(blockIdx.x % across) * BM,
              column0 = static_cast<int>(blockIdx.x / across) * BN;
    if (!in_triangle(g, row0, BM, column0, BN)) return;
    for (long long batch = blockIdx.y; batch < g.batches; batch += gridDim.y) {
      const Output<Out, Acc, EPILOGUE> output(g, batch);
      Acc sums[TM][TN] = {};
      if (g.k > 0 && !is_zero(output.alpha)) multiply_tiles(g, tiles, row0, column0, batch, sums);
      const int x = threadIdx.x % kRows, y = threadIdx.x / kRows;
#pragma unroll
      for (int j = 0; j < TN; ++j)
#pragma unroll
        for (int i = 0; i < TM; ++i)
          output.write(row0 + (i / kVector * kRows + x) * kVector + i % kVector,
                       column0 + (j / kVector * (BN / TN) + y) * kVector + j % kVector, sums[i][j]);
    }
  }
};

}  // namespace lockstep::libraries::blas

/// The kernel `name`.
#define LOCKSTEP_GEMM(name, In, Out, Acc, BM, BN, BK, TM, TN, EPILOGUE)                       \
  extern "C" __global__ void __launch_bounds__((BM / TM) * (BN / TN))                         \
      name(const __grid_constant__ lockstep::libraries::blas::GemmArguments g) {              \
    lockstep::libraries::blas::TiledGemm<In, Out, Acc, BM, BN, BK, TM, TN, EPILOGUE>::run(g); \
  }
