// Matrix products on tensor cores: 16 x 16 x 16 products of half or bfloat16 with sums in float.
#pragma once

#include <mma.h>

#include "libraries/blas/kernels/gemm_tensor_output.cuh"

namespace lockstep::libraries::blas {

/// A CTA computes BM x BN elements, each warp WM x WN of them, in steps of BK. Element: the tensor cores'
/// name for In.
template <class Element, class In, int BM, int BN, int BK, int WM, int WN>
struct TensorGemm {
  static constexpr int kWarpsDown = BM / WM, kWarps = kWarpsDown * (BN / WN), kThreads = 32 * kWarps;
  static constexpr int kPitchA = BM + 8, kPitchB = BN + 8, kPitchOut = WM + 8, kSide = 16;
  static constexpr int kDown = WM / kSide, kAcross = WN / kSide;
  using A = TileLoader<In, In, BM, BK, kPitchA, kThreads>;
  using B = TileLoader<In, In, BN, BK, kPitchB, kThreads>;
  using Sums = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>;
  struct Operands {
    alignas(32) In a[2][BK * kPitchA];
    alignas(32) In b[2][BK * kPitchB];
  };
  union Tiles {
    Operands in;
    alignas(32) float out[kWarps][kSide * kPitchOut];
  };

  __device__ static void compute(const In* a, const In* b, Sums (&sums)[kDown][kAcross]) {
    using namespace nvcuda::wmma;
#pragma unroll
    for (int k = 0; k < BK; k += kSide) {
      fragment<matrix_a, 16, 16, 16, Element, col_major> columns[kDown];
      fragment<matrix_b, 16, 16, 16, Element, row_major> rows[kAcross];
#pragma unroll
      for (int i = 0; i < kDown; ++i)
        load_matrix_sync(columns[i], reinterpret_cast<const Element*>(a + k * kPitchA + i * kSide), kPitchA);
#pragma unroll
      for (int j = 0; j < kAcross; ++j)
        load_matrix_sync(rows[j], reinterpret_cast<const Element*>(b + k * kPitchB + j * kSide), kPitchB);
#pragma unroll
      for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int j = 0; j < kAcross; ++j) mma_sync(sums[i][j], columns[i], rows[j], sums[i][j]);
    }
  }
  __device__ static void multiply_tiles(const GemmArguments& g, Operands& tiles, int row0, int column0,
                                        long long batch, int down, int across, Sums (&sums)[kDown][kAcross]) {
    A a(matrix_of<In>(g, g.a, g.stride_a, batch), g.lda, g.op_a != kOpN, false, row0, g.m, g.k);
    B b(matrix_of<In>(g, g.b, g.stride_b, batch), g.ldb, g.op_b == kOpN, false, column0, g.n, g.k);
    const int steps = (g.k + BK - 1) / BK;
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
      compute(tiles.a[step & 1] + down, tiles.b[step & 1] + across, sums);
      if (more) {
        a.store(tiles.a[step + 1 & 1], row0);
        b.store(tiles.b[step + 1 & 1], column0);
      }
      __syncthreads();
    }
  }
  /// By way of shared memory: where a fragment's elements are in registers is not known.
  __device__ static void write(const GemmArguments& g, long long batch, float* buffer, int row, int column,
                               const Sums (&sums)[kDown][kAcross]) {
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kDown; ++i)
        nvcuda::wmma::store_matrix_sync(buffer + i * kSide, sums[i][j], kPitchOut,
                                        nvcuda::wmma::mem_col_major);
      __syncwarp();
      write_sums<In, WM, kSide, kPitchOut>(g, batch, buffer, row, column + j * kSide);
    }
  }
  __device__ static void run(const GemmArguments& g) {
    __shared__ Tiles tiles;
    const int tiles_down = (g.m + BM - 1) / BM, warp = threadIdx.x / 32;
    const int row0 = static_cast<int>(blockIdx.x % tiles_down) * BM;
    const int column0 = static_cast<int>(blockIdx.x / tiles_down) * BN;
    const int down = warp % kWarpsDown * WM, across = warp / kWarpsDown * WN;
    if (!in_triangle(g, row0, BM, column0, BN)) return;
    const float alpha = ScalarOf<float>::read(g.alpha);
    for (long long batch = blockIdx.y; batch < g.batches; batch += gridDim.y) {
      Sums sums[kDown][kAcross];
#pragma unroll
      for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int j = 0; j < kAcross; ++j) nvcuda::wmma::fill_fragment(sums[i][j], 0.0f);
      if (g.k > 0 && !is_zero(alpha)) multiply_tiles(g, tiles.in, row0, column0, batch, down, across, sums);
      __syncthreads();
      write(g, batch, tiles.out[warp], row0 + down, column0 + across, sums);
      __syncthreads();
    }
  }
};

}  // namespace lockstep::libraries::blas

/// The kernel `name`, CTAS of whose CTAs are to fit on a multiprocessor.
#define LOCKSTEP_TENSOR_GEMM(name, Element, In, BM, BN, BK, WM, WN, CTAS)        \
  extern "C" __global__ void __launch_bounds__(32 * (BM / WM) * (BN / WN), CTAS) \
      name(const __grid_constant__ lockstep::libraries::blas::GemmArguments g) { \
    using namespace lockstep::libraries::blas;                                   \
    TensorGemm<Element, In, BM, BN, BK, WM, WN>::run(g);                         \
  }
