// Matrix products on tensor cores of 8.0 and later: 16 x 8 x 16 products of half or bfloat16 with sums in
// float.
#pragma once

#include "libraries/blas/kernels/async_tile.cuh"
#include "libraries/blas/kernels/gemm_tensor_output.cuh"

namespace lockstep::libraries::blas {

using SumsOfMma = float[4];

__device__ inline void mma(SumsOfMma& sums, const Packed& a, unsigned b0, unsigned b1, Half) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a.at[0]), "r"(a.at[1]), "r"(a.at[2]), "r"(a.at[3]), "r"(b0), "r"(b1));
}
__device__ inline void mma(SumsOfMma& sums, const Packed& a, unsigned b0, unsigned b1, Bfloat) {
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
  static_assert(kDown == 2 * kAcross);
  static constexpr int kBytesA = 2 * BM * BK, kBytesB = 2 * BN * BK, kStageBytes = kBytesA + kBytesB;
  static constexpr int kRows = 2, kColumns = 16 * kRows, kPitch = WM + 8;  // what is written at a time
  static constexpr int kOutBytes = kWarps * kColumns * kPitch * 4;
  static constexpr int kBytes = kStages * kStageBytes > kOutBytes ? kStages* kStageBytes : kOutBytes;
  template <bool CROSSING>
  using LayoutA = TileLayout<BM, BK, CROSSING, false>;
  template <bool CROSSING>
  using LayoutB = TileLayout<BN, BK, CROSSING, false>;
  using Sums = SumsOfMma[kAcross][kDown];

  template <class TileA, class TileB, bool CROSSING_A, bool CROSSING_B>
  __device__ static void multiply_tiles(const GemmArguments& g, unsigned shared, int row0, int column0,
                                        long long batch, int down, int across, Sums& sums) {
    TileA a(matrix_of<In>(g, g.a, g.stride_a, batch), g.lda, g.op_a == kOpN, row0, g.m, g.k);
    TileB b(matrix_of<In>(g, g.b, g.stride_b, batch), g.ldb, g.op_b != kOpN, column0, g.n, g.k);
    const FragmentReader<LayoutA<CROSSING_A>, CROSSING_A, true> read_a(down);
    const FragmentReader<LayoutB<CROSSING_B>, CROSSING_B, false> read_b(across);
    const int steps = (g.k + BK - 1) / BK;
    unsigned at = shared, to = shared + (kStages - 1) * kStageBytes;
    const unsigned last = to;
    const auto next = [&](unsigned stage) { return stage == last ? shared : stage + kStageBytes; };
    const auto finish = [&](unsigned stage, bool valid) {
      a.finish(stage, valid);
      b.finish(stage + kBytesA, valid);
      end_copies();
    };
#pragma unroll
    for (int stage = 0; stage < kStages - 1; ++stage) {
      a.template copy<0, 1>(shared + stage * kStageBytes, stage < steps);
      b.template copy<0, 1>(shared + stage * kStageBytes + kBytesA, stage < steps);
      finish(shared + stage * kStageBytes, stage < steps);
    }
    Packed first[2][kAcross], second[2][kAcross];
    const auto read = [&](unsigned stage, int k, int i, auto... valid) {
      read_b.read(first[k / 16][i], stage + kBytesA, k, i, valid...);
      read_a.read(second[k / 16][i], stage, k, i, valid...);
    };
    const auto multiply_row = [&](int k, int i) {
#pragma unroll
      for (int j = 0; j < kDown; ++j)
        mma(sums[i][j], first[k / 16][i], second[k / 16][j / 2].at[j % 2 * 2],
            second[k / 16][j / 2].at[j % 2 * 2 + 1], In{});
    };
    wait_for_copies<kStages - 2>();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kAcross; ++i) read(at, 0, i);
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      const bool more = step + kStages - 1 < steps;
      in_parts<0>(
          [&](auto part) {  // copies among the products: they would fill the queue of the memory units
            constexpr int kPart = decltype(part)::kValue;
            read(at, 16, kPart);
            a.template copy<kPart, kAcross>(to, more);
            b.template copy<kPart, kAcross>(to + kBytesA, more);
            multiply_row(0, kPart);
          });
      finish(to, more);
      at = next(at);
      to = next(to);
      wait_for_copies<kStages - 2>();
      __syncthreads();
#pragma unroll
      for (int i = 0; i < kAcross; ++i) {
        read(at, 0, i, step + 1 < steps);
        multiply_row(16, i);
        __syncwarp();  // keeps what is read ahead of the products that follow
      }
    }
  }
  template <int I>
  struct Part {
    static constexpr int kValue = I;
  };
  template <int I, class Body>
  __device__ static void in_parts(const Body& body) {
    body(Part<I>{});
    if constexpr (I + 1 < kAcross) in_parts<I + 1>(body);
  }
  template <bool CROSSING_A, bool CROSSING_B>
  __device__ static void multiply_aligned(const GemmArguments& g, unsigned shared, int row0, int column0,
                                          long long batch, int down, int across, Sums& sums) {
    multiply_tiles<AsyncTile<In, LayoutA<CROSSING_A>, BK, kThreads, CROSSING_A>,
                   AsyncTile<In, LayoutB<CROSSING_B>, BK, kThreads, CROSSING_B>, CROSSING_A, CROSSING_B>(
        g, shared, row0, column0, batch, down, across, sums);
  }
  __device__ static void multiply(const GemmArguments& g, unsigned shared, int row0, int column0,
                                  long long batch, int down, int across, Sums& sums) {
    const bool crossing_a = g.op_a == kOpN, crossing_b = g.op_b != kOpN;
    if (!is_aligned(matrix_of<In>(g, g.a, g.stride_a, batch), g.lda) ||
        !is_aligned(matrix_of<In>(g, g.b, g.stride_b, batch), g.ldb))
      multiply_tiles<ElementTile<In, LayoutA<false>, BM, BK, kThreads>,
                     ElementTile<In, LayoutB<false>, BN, BK, kThreads>, false, false>(
          g, shared, row0, column0, batch, down, across, sums);
    else if (crossing_a && crossing_b)
      multiply_aligned<true, true>(g, shared, row0, column0, batch, down, across, sums);
    else if (crossing_a)
      multiply_aligned<true, false>(g, shared, row0, column0, batch, down, across, sums);
    else if (crossing_b)
      multiply_aligned<false, true>(g, shared, row0, column0, batch, down, across, sums);
    else
      multiply_aligned<false, false>(g, shared, row0, column0, batch, down, across, sums);
  }
  /// By way of shared memory, so that neighbours are written together.
  __device__ static void write(const TensorOutput<In>& output, float* buffer, int row, int column,
                               const Sums& sums) {
    const int lane = threadIdx.x % 32;
    float* const to = buffer + lane / 4 * kPitch + lane % 4 * 2;
#pragma unroll
    for (int part = 0; part < kAcross / kRows; ++part) {
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int j = 0; j < kDown; ++j)
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const float* const pair = sums[part * kRows + i][j] + 2 * half;
            *reinterpret_cast<Chunk<float, 2>*>(to + (16 * i + 8 * half) * kPitch + 8 * j) = {pair[0],
                                                                                              pair[1]};
          }
      __syncwarp();
      output.template write<WM, kColumns, kPitch>(buffer, row, column + part * kColumns);
    }
  }
  __device__ static void run(const GemmArguments& g) {
    __shared__ alignas(128) unsigned char memory[kBytes];
    const int tiles_down = (g.m + BM - 1) / BM, warp = threadIdx.x / 32;
    const int row0 = static_cast<int>(blockIdx.x % tiles_down) * BM;
    const int column0 = static_cast<int>(blockIdx.x / tiles_down) * BN;
    const int down = warp % kWarpsDown * WM, across = warp / kWarpsDown * WN;
    if (!in_triangle(g, row0, BM, column0, BN)) return;
    TensorOutput<In> output(g);
    for (long long batch = blockIdx.y; batch < g.batches; batch += gridDim.y) {
      output.choose(batch);
      Sums sums = {};
      if (g.k > 0 && !is_zero(output.alpha))
        multiply(g, static_cast<unsigned>(__cvta_generic_to_shared(memory)), row0, column0, batch, down,
                 across, sums);
      __syncthreads();
      write(output, reinterpret_cast<float*>(memory) + warp * kColumns * kPitch, row0 + down,
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
