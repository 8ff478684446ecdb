// Matrix products on tensor cores of 8.0 and later: 16 x 8 x 16 products of half or bfloat16 with sums in
// float.
#pragma once

#include "libraries/blas/kernels/async_tile.cuh"
#include "libraries/blas/kernels/gemm_tensor_output.cuh"

namespace lockstep::libraries::blas {

using SumsOfMma = float[4];

__device__ inline void mma(SumsOfMma& sums, const Fragment& a, unsigned b0, unsigned b1, Half) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a.at[0]), "r"(a.at[1]), "r"(a.at[2]), "r"(a.at[3]), "r"(b0), "r"(b1));
}
__device__ inline void mma(SumsOfMma& sums, const Fragment& a, unsigned b0, unsigned b1, Bfloat) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a.at[0]), "r"(a.at[1]), "r"(a.at[2]), "r"(a.at[3]), "r"(b0), "r"(b1));
}

/// A CTA computes BM x BN elements, each warp WM x WN of them, in steps of BK. The transpose of D is
/// computed, whose rows are D's columns, since a lane has neighbours of a row.
template <class In, int BM, int BN, int WM, int WN>
struct MmaGemm {
  static constexpr int BK = 32, kStages = 3;
  static constexpr int kWarpsDown = BM / WM, kWarps = kWarpsDown * (BN / WN), kThreads = 32 * kWarps;
  static constexpr int kDown = WM / 8, kAcross = WN / 16;
  static constexpr int kBytesA = 2 * BM * BK, kBytesB = 2 * BN * BK, kStageBytes = kBytesA + kBytesB;
  static constexpr int kPart = 2, kColumns = 16 * kPart, kPitch = WM + 8;  // what is written at a time
  static constexpr int kOutBytes = kWarps * kColumns * kPitch * 4;
  static constexpr int kBytes = kStages * kStageBytes > kOutBytes ? kStages* kStageBytes : kOutBytes;
  using Sums = SumsOfMma[kAcross][kDown];

  template <bool CROSSING_A, bool CROSSING_B>
  __device__ static void multiply_tiles(const GemmArguments& g, unsigned shared, int row0, int column0,
                                        long long batch, int down, int across, Sums& sums) {
    AsyncTile<In, BM, BK, kThreads, CROSSING_A> a(matrix_of<In>(g, g.a, g.stride_a, batch), g.lda, row0, g.m,
                                                  g.k);
    AsyncTile<In, BN, BK, kThreads, CROSSING_B> b(matrix_of<In>(g, g.b, g.stride_b, batch), g.ldb, column0,
                                                  g.n, g.k);
    const FragmentReader<BM, BK, CROSSING_A, true> read_a(down);
    const FragmentReader<BN, BK, CROSSING_B, false> read_b(across);
    const int steps = (g.k + BK - 1) / BK;
    const auto copy = [&](unsigned stage) {
      a.copy(stage);
      b.copy(stage + kBytesA);
    };
#pragma unroll
    for (int stage = 0; stage < kStages - 1; ++stage) {
      if (stage < steps) copy(shared + stage * kStageBytes);
      end_copies();
    }
    unsigned at = shared, to = shared + (kStages - 1) * kStageBytes;
    const unsigned last = shared + (kStages - 1) * kStageBytes;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      wait_for_copies<kStages - 2>();
      __syncthreads();
      Fragment first[2][kAcross], second[2][kDown / 2];
      read_b.read(at + kBytesA, 0, first[0]);
      read_a.read(at, 0, second[0]);
      if (step + kStages - 1 < steps) copy(to);
      end_copies();
#pragma unroll
      for (int k = 0; k < BK; k += 16) {
        const int now = k / 16 % 2;
        if (k + 16 < BK) {
          read_b.read(at + kBytesA, k + 16, first[1 - now]);
          read_a.read(at, k + 16, second[1 - now]);
        }
#pragma unroll
        for (int i = 0; i < kAcross; ++i)
#pragma unroll
          for (int j = 0; j < kDown; ++j)
            mma(sums[i][j], first[now][i], second[now][j / 2].at[j % 2 * 2],
                second[now][j / 2].at[j % 2 * 2 + 1], In{});
      }
      at = at == last ? shared : at + kStageBytes;
      to = to == last ? shared : to + kStageBytes;
    }
  }
  __device__ static void multiply(const GemmArguments& g, unsigned shared, int row0, int column0,
                                  long long batch, int down, int across, Sums& sums) {
    if (g.op_a == kOpN) {
      if (g.op_b == kOpN)
        multiply_tiles<true, false>(g, shared, row0, column0, batch, down, across, sums);
      else
        multiply_tiles<true, true>(g, shared, row0, column0, batch, down, across, sums);
    } else if (g.op_b == kOpN) {
      multiply_tiles<false, false>(g, shared, row0, column0, batch, down, across, sums);
    } else {
      multiply_tiles<false, true>(g, shared, row0, column0, batch, down, across, sums);
    }
  }
  /// By way of shared memory, so that neighbours are written together.
  __device__ static void write(const GemmArguments& g, long long batch, float* buffer, int row, int column,
                               const Sums& sums) {
    const int lane = threadIdx.x % 32;
    float* const to = buffer + lane / 4 * kPitch + lane % 4 * 2;
#pragma unroll
    for (int part = 0; part < kAcross / kPart; ++part) {
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kPart; ++i)
#pragma unroll
        for (int j = 0; j < kDown; ++j)
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const float* const pair = sums[part * kPart + i][j] + 2 * half;
            *reinterpret_cast<Chunk<float, 2>*>(to + (16 * i + 8 * half) * kPitch + 8 * j) = {pair[0],
                                                                                              pair[1]};
          }
      __syncwarp();
      write_sums<In, WM, kColumns, kPitch>(g, batch, buffer, row, column + part * kColumns);
    }
  }
  __device__ static void run(const GemmArguments& g) {
    __shared__ alignas(128) unsigned char memory[kBytes];
    const int tiles_down = (g.m + BM - 1) / BM, warp = threadIdx.x / 32;
    const int row0 = static_cast<int>(blockIdx.x % tiles_down) * BM;
    const int column0 = static_cast<int>(blockIdx.x / tiles_down) * BN;
    const int down = warp % kWarpsDown * WM, across = warp / kWarpsDown * WN;
    if (!in_triangle(g, row0, BM, column0, BN)) return;
    const float alpha = ScalarOf<float>::read(g.alpha);
    for (long long batch = blockIdx.y; batch < g.batches; batch += gridDim.y) {
      Sums sums = {};
      if (g.k > 0 && !is_zero(alpha))
        multiply(g, static_cast<unsigned>(__cvta_generic_to_shared(memory)), row0, column0, batch, down,
                 across, sums);
      __syncthreads();
      write(g, batch, reinterpret_cast<float*>(memory) + warp * kColumns * kPitch, row0 + down,
            column0 + across, sums);
      __syncthreads();
    }
  }
};

}  // namespace lockstep::libraries::blas

/// The kernel `name`, CTAS of whose CTAs are to fit on a multiprocessor.
#define LOCKSTEP_MMA_GEMM(name, In, BM, BN, WM, WN, CTAS)                        \
  extern "C" __global__ void __launch_bounds__(32 * (BM / WM) * (BN / WN), CTAS) \
      name(const __grid_constant__ lockstep::libraries::blas::GemmArguments g) { \
    using namespace lockstep::libraries::blas;                                   \
    MmaGemm<In, BM, BN, WM, WN>::run(g);                                         \
  }
