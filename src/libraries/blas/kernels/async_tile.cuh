// Tiles of 16-bit elements in shared memory for tensor cores: filled by asynchronous copies, read by
// ldmatrix.
#pragma once

#include "libraries/blas/kernels/gemm_output.cuh"

namespace lockstep::libraries::blas {

__device__ inline void copy_async(unsigned to, const void* from, int bytes) {  // the rest of 16 bytes: zeros
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
__device__ inline void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int PENDING>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}
struct Fragment {
  unsigned at[4];
};
template <bool TRANSPOSED>
__device__ inline Fragment load_matrices(unsigned from) {
  Fragment f;
  if constexpr (TRANSPOSED)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f.at[0]), "=r"(f.at[1]), "=r"(f.at[2]), "=r"(f.at[3])
                 : "r"(from)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f.at[0]), "=r"(f.at[1]), "=r"(f.at[2]), "=r"(f.at[3])
                 : "r"(from)
                 : "memory");
  return f;
}

/// How ROWS x DEPTH elements lie: in lines of rows (CROSSING) or of k, as in global memory. Chunks of 16
/// bytes change places within a line so that neither copies nor ldmatrix have bank conflicts.
template <int ROWS, int DEPTH, bool CROSSING>
struct TileLayout {
  static constexpr int kChunk = 8, kLine = CROSSING ? ROWS : DEPTH, kLines = CROSSING ? DEPTH : ROWS,
                       kChunks = kLine / kChunk, kLineBytes = 2 * kLine, kBytes = kLines * kLineBytes;
  static_assert(kChunks == 4 || kChunks % 8 == 0);
  __device__ static int place(int line, int chunk) {
    return line * kLineBytes + (chunk ^ (kChunks == 4 ? line >> 1 & 3 : line & 7)) * 16;
  }
};

/// Copies one operand's tiles, from k = 0 upwards.
template <class In, int ROWS, int DEPTH, int THREADS, bool CROSSING>
struct AsyncTile {
  using Layout = TileLayout<ROWS, DEPTH, CROSSING>;
  static constexpr int kStep = THREADS / Layout::kChunks, kCount = Layout::kLines / kStep;
  static_assert(kStep % 8 == 0, "a thread's chunks have the same place in each line");
  const In* at;
  long long step, tile_step;
  int lines, length;  // of the matrix, from this thread's first chunk on
  int place;
  bool aligned;

  __device__ AsyncTile(const In* matrix, long long ld, int first, int rows, int depth) {
    const int line = threadIdx.x / Layout::kChunks, chunk = threadIdx.x % Layout::kChunks;
    place = Layout::place(line, chunk);
    lines = (CROSSING ? depth : rows - first) - line;
    length = (CROSSING ? rows - first : depth) - chunk * Layout::kChunk;
    aligned = ld % Layout::kChunk == 0 && reinterpret_cast<unsigned long long>(matrix) % 16 == 0;
    at = matrix + (line + (CROSSING ? 0 : first)) * ld + (CROSSING ? first : 0) + chunk * Layout::kChunk;
    step = kStep * ld;
    tile_step = CROSSING ? DEPTH * ld : DEPTH;
  }
  __device__ void copy(unsigned tile) {
    const int count = length < 0 ? 0 : length < Layout::kChunk ? length : Layout::kChunk;
    const In* from = at;
    unsigned to = tile + place;
    if (aligned) {
#pragma unroll
      for (int c = 0; c < kCount; ++c, from += step)
        copy_async(to + c * kStep * Layout::kLineBytes, from, lines > c * kStep ? 2 * count : 0);
    } else {
#pragma unroll 1
      for (int c = 0; c < kCount; ++c, from += step, to += kStep * Layout::kLineBytes)
        copy_elements(to, from, lines > c * kStep ? count : 0);
    }
    at += tile_step;
    (CROSSING ? lines : length) -= DEPTH;
  }
  __device__ static void copy_elements(unsigned to, const In* from, int count) {
    unsigned words[4];
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const unsigned low = 2 * w < count ? from[2 * w].bits : 0;
      words[w] = low | (2 * w + 1 < count ? from[2 * w + 1].bits : 0u) << 16;
    }
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]), "r"(words[1]),
                 "r"(words[2]), "r"(words[3])
                 : "memory");
  }
};

/// A warp's fragments of a tile, 16 rows x 16 k each: as mma's first operand, or two of its second.
template <int ROWS, int DEPTH, bool CROSSING, bool SECOND>
struct FragmentReader {
  using Layout = TileLayout<ROWS, DEPTH, CROSSING>;
  unsigned place;

  __device__ explicit FragmentReader(int row) {
    const int lane = threadIdx.x % 32, low = lane >> 3 & 1, high = lane >> 4;
    const int row_half = SECOND ? high : low, k_half = SECOND ? low : high;
    place = CROSSING ? Layout::place(lane % 8 + 8 * k_half, row / 8 + row_half)
                     : Layout::place(row + lane % 8 + 8 * row_half, k_half);
  }
  template <int COUNT>
  __device__ void read(unsigned tile, int k, Fragment (&to)[COUNT]) const {
    static_assert(!CROSSING || COUNT <= 4);
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
      to[i] = load_matrices<CROSSING>(CROSSING ? (tile + place ^ i * 32) + k * Layout::kLineBytes
                                               : (tile + place ^ k * 2) + i * 16 * Layout::kLineBytes);
  }
};

}  // namespace lockstep::libraries::blas
