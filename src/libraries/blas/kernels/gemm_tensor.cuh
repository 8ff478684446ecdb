// Matrix products on tensor cores: 16 x 16 x 16 products of half or bfloat16 with sums in float.
#pragma once

#include <mma.h>

#include <type_traits>

#include "libraries/blas/kernels/gemm_tensor_output.cuh"
#include "libraries/blas/kernels/tensor_tile.cuh"

namespace lockstep::libraries::blas {

/// A CTA computes BM x BN elements, each warp WM x WN of them, in steps of BK; two tiles of each operand are
/// in shared memory, so that one is loaded while the other is computed with. Element: the tensor cores' name
/// for In.
template <class Element, class In, int BM, int BN, int BK, int WM, int WN>
struct TensorGemm {
  static constexpr int kWarpsDown = BM / WM, kWarps = kWarpsDown * (BN / WN), kThreads = 32 * kWarps;
  static constexpr int kSide = 16, kPitchOut = WM + 8, kDown = WM / kSide, kAcross = WN / kSide;
  template <bool CROSSING>
  using LayoutA = TileLayout<BM, BK, CROSSING, true>;
  template <bool CROSSING>
  using LayoutB = TileLayout<BN, BK, CROSSING, true>;
  static constexpr int kBytesA = larger(LayoutA<false>::kBytes, LayoutA<true>::kBytes),
                       kBytesB = larger(LayoutB<false>::kBytes, LayoutB<true>::kBytes),
                       kStageBytes = kBytesA + kBytesB, kOutBytes = kWarps * kSide * kPitchOut * 4,
                       kBytes = larger(2 * kStageBytes, kOutBytes);
  using Sums = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>;

  /// 16 x 16 elements of a tile.
  template <class Layout, bool CROSSING, class Fragment>
  __device__ static void read(Fragment& fragment, const unsigned char* tile, int row, int k) {
    const auto* const elements = reinterpret_cast<const Element*>(tile);
    nvcuda::wmma::load_matrix_sync(
        fragment, elements + (CROSSING ? k * Layout::kPitch + row : row * Layout::kPitch + k),
        Layout::kPitch);
  }
  template <bool CROSSING_A, bool CROSSING_B>
  __device__ static void compute(const unsigned char* stage, int down, int across,
                                 Sums (&sums)[kDown][kAcross]) {
    using namespace nvcuda::wmma;
    using LayoutOfA = std::conditional_t<CROSSING_A, col_major, row_major>;
    using LayoutOfB = std::conditional_t<CROSSING_B, row_major, col_major>;
#pragma unroll
    for (int k = 0; k < BK; k += kSide) {
      fragment<matrix_b, 16, 16, 16, Element, LayoutOfB> b[kAcross];
#pragma unroll
      for (int j = 0; j < kAcross; ++j)
        read<LayoutB<CROSSING_B>, CROSSING_B>(b[j], stage + kBytesA, across + j * kSide, k);
#pragma unroll
      for (int i = 0; i < kDown; ++i) {
        fragment<matrix_a, 16, 16, 16, Element, LayoutOfA> a;
        read<LayoutA<CROSSING_A>, CROSSING_A>(a, stage, down + i * kSide, k);
#pragma unroll
        for (int j = 0; j < kAcross; ++j) mma_sync(sums[i][j], a, b[j], sums[i][j]);
      }
    }
  }
  template <class TileA, class TileB, bool CROSSING_A, bool CROSSING_B>
  __device__ static void multiply_tiles(const GemmArguments& g, unsigned char* memory, int row0, int column0,
                                        long long batch, int down, int across, Sums (&sums)[kDown][kAcross]) {
    TileA a(matrix_of<In>(g, g.a, g.stride_a, batch), g.lda, g.op_a == kOpN, row0, g.m, g.k);
    TileB b(matrix_of<In>(g, g.b, g.stride_b, batch), g.ldb, g.op_b != kOpN, column0, g.n, g.k);
    const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(memory));
    const auto store = [&](int stage) {
      a.store(shared + stage * kStageBytes);
      b.store(shared + stage * kStageBytes + kBytesA);
    };
    const int steps = (g.k + BK - 1) / BK;
    a.load();
    b.load();
    store(0);
    __syncthreads();
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      a.load();  // zeros behind the end
      b.load();
      __syncwarp();  // loads are not to be moved behind the products
      compute<CROSSING_A, CROSSING_B>(memory + (step & 1) * kStageBytes, down, across, sums);
      store(step + 1 & 1);
      __syncthreads();
    }
  }
  template <bool CROSSING_A, bool CROSSING_B>
  __device__ static void multiply_regular(const GemmArguments& g, unsigned char* memory, int row0,
                                          int column0, long long batch, int down, int across,
                                          Sums (&sums)[kDown][kAcross]) {
    multiply_tiles<RegisterTile<In, LayoutA<CROSSING_A>, BK, kThreads, CROSSING_A>,
                   RegisterTile<In, LayoutB<CROSSING_B>, BK, kThreads, CROSSING_B>, CROSSING_A, CROSSING_B>(
        g, memory, row0, column0, batch, down, across, sums);
  }
  __device__ static void multiply(const GemmArguments& g, unsigned char* memory, int row0, int column0,
                                  long long batch, int down, int across, Sums (&sums)[kDown][kAcross]) {
    const bool crossing_a = g.op_a == kOpN, crossing_b = g.op_b != kOpN;
    const bool regular = is_aligned(matrix_of<In>(g, g.a, g.stride_a, batch), g.lda) &&
                         is_aligned(matrix_of<In>(g, g.b, g.stride_b, batch), g.ldb) &&
                         (crossing_a ? g.m : g.k) % 8 == 0 && (crossing_b ? g.n : g.k) % 8 == 0;
    if (!regular)
      multiply_tiles<ElementTile<In, LayoutA<false>, BM, BK, kThreads>,
                     ElementTile<In, LayoutB<false>, BN, BK, kThreads>, false, false>(
          g, memory, row0, column0, batch, down, across, sums);
    else if (crossing_a && crossing_b)
      multiply_regular<true, true>(g, memory, row0, column0, batch, down, across, sums);
    else if (crossing_a)
      multiply_regular<true, false>(g, memory, row0, column0, batch, down, across, sums);
    else if (crossing_b)
      multiply_regular<false, true>(g, memory, row0, column0, batch, down, across, sums);
    else
      multiply_regular<false, false>(g, memory, row0, column0, batch, down, across, sums);
  }
  /// By way of shared memory: where a fragment's elements are in registers is not known.
  __device__ static void write(const TensorOutput<In>& output, float* buffer, int row, int column,
                               const Sums (&sums)[kDown][kAcross]) {
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kDown; ++i)
        nvcuda::wmma::store_matrix_sync(buffer + i * kSide, sums[i][j], kPitchOut,
                                        nvcuda::wmma::mem_col_major);
      __syncwarp();
      output.template write<WM, kSide, kPitchOut>(buffer, row, column + j * kSide);
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
      Sums sums[kDown][kAcross];
#pragma unroll
      for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int j = 0; j < kAcross; ++j) nvcuda::wmma::fill_fragment(sums[i][j], 0.0f);
      if (g.k > 0 && !is_zero(output.alpha)) multiply(g, memory, row0, column0, batch, down, across, sums);
      __syncthreads();
      write(output, reinterpret_cast<float*>(memory) + warp * kSide * kPitchOut, row0 + down,
            column0 + across, sums);
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
