// Tiles of 16-bit elements in shared memory for tensor cores, and how they get there by way of registers.
#pragma once

#include "libraries/blas/kernels/gemm_output.cuh"

namespace lockstep::libraries::blas {

constexpr int larger(int a, int b) { return a > b ? a : b; }

/// How ROWS x DEPTH elements lie: in lines of rows (CROSSING) or of k, as in global memory; of 16 bytes more
/// than their elements need (PADDED) or with chunks of 16 bytes that change places within a line, so that
/// neither what fills a tile nor what reads it has bank conflicts.
template <int ROWS, int DEPTH, bool CROSSING, bool PADDED>
struct TileLayout {
  static constexpr int kChunk = 8, kLine = CROSSING ? ROWS : DEPTH, kLines = CROSSING ? DEPTH : ROWS,
                       kChunks = kLine / kChunk, kPitch = kLine + (PADDED ? kChunk : 0),
                       kBytes = 2 * kPitch * kLines;
  static_assert(PADDED || kChunks == 4 || kChunks % 8 == 0);
  __device__ static int place(int line, int chunk) {
    return 2 * kPitch * line + 16 * (PADDED ? chunk : chunk ^ (kChunks == 4 ? line >> 1 & 3 : line & 7));
  }
};

/// Eight elements in registers.
struct Packed {
  unsigned at[4];
};
__device__ inline void store_shared(unsigned to, const Packed& p) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(p.at[0]), "r"(p.at[1]), "r"(p.at[2]),
               "r"(p.at[3])
               : "memory");
}
/// Zeros unless `valid`.
__device__ inline Packed load_global(const void* from, bool valid) {
  Packed p;
  asm volatile(
      "{\n.reg .pred valid;\nsetp.ne.s32 valid, %5, 0;\nmov.b32 %0, 0;\nmov.b32 %1, 0;\nmov.b32 %2, 0;\n"
      "mov.b32 %3, 0;\n@valid ld.global.v4.b32 {%0, %1, %2, %3}, [%4];\n}"
      : "=r"(p.at[0]), "=r"(p.at[1]), "=r"(p.at[2]), "=r"(p.at[3])
      : "l"(from), "r"(static_cast<int>(valid)));
  return p;
}
/// Keeps the compiler from computing a value anew where it is used.
__device__ inline void keep(unsigned& x) { asm volatile("" : "+r"(x)); }
__device__ inline void keep(long long& x) { asm volatile("" : "+l"(x)); }

/// One operand's tiles from k = 0 upwards, for any matrix: element by element, into lines of k.
template <class In, class Layout, int ROWS, int DEPTH, int THREADS>
struct ElementTile {
  static constexpr int kChunks = Layout::kChunks, kCount = ROWS * kChunks / THREADS;
  const In* at[kCount];
  int left[kCount];  // elements from there to the matrix's end
  long long k_stride;
  bool crossing;
  Packed chunks[kCount];

  __device__ ElementTile(const In* matrix, long long ld, bool by_rows, int first, int rows, int depth)
      : k_stride(by_rows ? ld : 1), crossing(by_rows) {
#pragma unroll
    for (int c = 0; c < kCount; ++c) {
      int row, chunk;
      find(c, row, chunk);
      left[c] = first + row < rows ? depth - chunk * Layout::kChunk : 0;
      at[c] = matrix + (first + row) * (by_rows ? 1 : ld) + chunk * Layout::kChunk * k_stride;
    }
  }
  /// Neighbours in memory for neighbouring threads.
  __device__ void find(int c, int& row, int& chunk) const {
    const int index = threadIdx.x + c * THREADS;
    row = crossing ? index % ROWS : index / kChunks;
    chunk = crossing ? index / ROWS : index % kChunks;
  }
  /// All loads go ahead of what needs the first of them.
  __device__ void load() {
    unsigned short bits[kCount][Layout::kChunk];
#pragma unroll
    for (int c = 0; c < kCount; ++c) {
      const In* from = at[c];
#pragma unroll
      for (int e = 0; e < Layout::kChunk; ++e, from += k_stride)
        asm volatile(
            "{\n.reg .pred valid;\nsetp.gt.s32 valid, %2, %3;\nmov.u16 %0, 0;\n"
            "@valid ld.global.u16 %0, [%1];\n}"
            : "=h"(bits[c][e])
            : "l"(from), "r"(left[c]), "r"(e));
      at[c] += DEPTH * k_stride;
      left[c] -= DEPTH;
    }
    __syncwarp();
#pragma unroll
    for (int c = 0; c < kCount; ++c)
#pragma unroll
      for (int w = 0; w < 4; ++w)
        asm("mov.b32 %0, {%1, %2};" : "=r"(chunks[c].at[w]) : "h"(bits[c][2 * w]), "h"(bits[c][2 * w + 1]));
  }
  __device__ void store(unsigned tile) const {
#pragma unroll
    for (int c = 0; c < kCount; ++c) {
      int row, chunk;
      find(c, row, chunk);
      store_shared(tile + Layout::place(row, chunk), chunks[c]);
    }
  }
  /// The interface of AsyncTile: what is loaded here is in the tile with finish().
  template <int PART, int PARTS>
  __device__ void copy(unsigned, bool valid) {
    if (PART > 0 || !valid) return;
    load();
  }
  __device__ void finish(unsigned tile, bool valid) const {
    if (valid) store(tile);
  }
};

/// Whether lines of a matrix consist of chunks of 16 bytes.
template <class In>
__device__ inline bool is_aligned(const In* matrix, long long ld) {
  return ld % 8 == 0 && reinterpret_cast<unsigned long long>(matrix) % 16 == 0;
}

/// Where a thread's chunks of 16 bytes begin, in global memory and in a tile: the same place in each of its
/// lines.
template <class In, class Layout, int DEPTH, int THREADS, bool CROSSING>
struct ChunkedTile {
  static constexpr int kStep = THREADS / Layout::kChunks, kCount = Layout::kLines / kStep;
  const char* at;
  long long step, tile_step;  // in bytes
  int lines, length;          // of the matrix, from this thread's first chunk on
  unsigned place;

  __device__ ChunkedTile(const In* matrix, long long ld, bool, int first, int rows, int depth) {
    const int line = threadIdx.x / Layout::kChunks, chunk = threadIdx.x % Layout::kChunks;
    lines = (CROSSING ? depth : rows - first) - line;
    length = (CROSSING ? rows - first : depth) - chunk * Layout::kChunk;
    at = reinterpret_cast<const char*>(matrix + (line + (CROSSING ? 0 : first)) * ld +
                                       (CROSSING ? first : 0) + chunk * Layout::kChunk);
    step = 2 * kStep * ld;
    tile_step = 2 * (CROSSING ? DEPTH * ld : DEPTH);
    place = Layout::place(line, chunk);
    keep(place);
    keep(step);
  }
  __device__ void next() {
    at += tile_step;
    (CROSSING ? lines : length) -= DEPTH;
  }
};

/// For matrices whose lines are aligned and consist of whole chunks.
template <class In, class Layout, int DEPTH, int THREADS, bool CROSSING>
struct RegisterTile : ChunkedTile<In, Layout, DEPTH, THREADS, CROSSING> {
  using Base = ChunkedTile<In, Layout, DEPTH, THREADS, CROSSING>;
  using Base::Base;
  Packed chunks[Base::kCount];

  __device__ void load() {
    const char* from = this->at;
#pragma unroll
    for (int c = 0; c < Base::kCount; ++c, from += this->step)
      chunks[c] = load_global(from, this->length > 0 && this->lines > c * Base::kStep);
    this->next();
  }
  __device__ void store(unsigned tile) const {
#pragma unroll
    for (int c = 0; c < Base::kCount; ++c)
      store_shared(tile + this->place + c * Base::kStep * 2 * Layout::kPitch, chunks[c]);
  }
};

}  // namespace lockstep::libraries::blas
