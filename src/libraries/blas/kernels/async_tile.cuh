// Tiles that are filled by asynchronous copies and read by ldmatrix (8.0 and later).
#pragma once

#include "libraries/blas/kernels/tensor_tile.cuh"

namespace lockstep::libraries::blas {

/// 16 bytes, of which those behind `bytes` are zeros; nothing unless `valid`.
template <int OFFSET>
__device__ inline void copy_async(unsigned to, const void* from, int bytes, bool valid) {
  asm volatile(
      "{\n.reg .pred valid;\nsetp.ne.s32 valid, %4, 0;\n"
      "@valid cp.async.cg.shared.global [%0 + %3], [%1], 16, %2;\n}" ::"r"(to),
      "l"(from), "r"(bytes), "n"(OFFSET), "r"(static_cast<int>(valid))
      : "memory");
}
__device__ inline void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int PENDING>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}
/// Nothing unless `valid`.
template <bool TRANSPOSED>
__device__ inline void load_matrices(Packed& to, unsigned from, bool valid) {
  if constexpr (TRANSPOSED)
    asm volatile(
        "{\n.reg .pred valid;\nsetp.ne.s32 valid, %5, 0;\n"
        "@valid ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n}"
        : "+r"(to.at[0]), "+r"(to.at[1]), "+r"(to.at[2]), "+r"(to.at[3])
        : "r"(from), "r"(static_cast<int>(valid))
        : "memory");
  else
    asm volatile(
        "{\n.reg .pred valid;\nsetp.ne.s32 valid, %5, 0;\n"
        "@valid ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n}"
        : "+r"(to.at[0]), "+r"(to.at[1]), "+r"(to.at[2]), "+r"(to.at[3])
        : "r"(from), "r"(static_cast<int>(valid))
        : "memory");
}
template <bool TRANSPOSED>
__device__ inline void load_matrices(Packed& to, unsigned from) {
  if constexpr (TRANSPOSED)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to.at[0]), "=r"(to.at[1]), "=r"(to.at[2]), "=r"(to.at[3])
                 : "r"(from)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to.at[0]), "=r"(to.at[1]), "=r"(to.at[2]), "=r"(to.at[3])
                 : "r"(from)
                 : "memory");
}

/// For matrices whose lines are aligned.
template <class In, class Layout, int DEPTH, int THREADS, bool CROSSING>
struct AsyncTile : ChunkedTile<In, Layout, DEPTH, THREADS, CROSSING> {
  using Base = ChunkedTile<In, Layout, DEPTH, THREADS, CROSSING>;
  using Base::Base;
  static_assert(Base::kStep % 8 == 0, "a thread's chunks have the same place in each line");

  /// One of PARTS parts of a tile, in order; nothing unless `valid`.
  template <int PART, int PARTS>
  __device__ void copy(unsigned tile, bool valid) {
    constexpr int kChunks = Base::kCount / PARTS;
    static_assert(Base::kCount % PARTS == 0);
    if constexpr (PART == 0) {
      const int length = this->length;
      bytes_ = length < 0 ? 0 : length < Layout::kChunk ? 2 * length : 16;
      from_ = this->at;
    }
    copy_from<PART * kChunks, kChunks>(tile + this->place, valid);
    if constexpr (PART == PARTS - 1) this->next();
  }

  __device__ void finish(unsigned, bool) const {}

 private:
  template <int C, int COUNT>
  __device__ void copy_from(unsigned to, bool valid) {
    copy_async<C * Base::kStep * 2 * Layout::kPitch>(to, from_, this->lines > C * Base::kStep ? bytes_ : 0,
                                                     valid);
    from_ += this->step;
    if constexpr (COUNT > 1) copy_from<C + 1, COUNT - 1>(to, valid);
  }
  const char* from_;
  int bytes_;
};

/// A warp's fragments of a tile, 16 rows x 16 k each: as mma's first operand, or two of its second.
template <class Layout, bool CROSSING, bool SECOND>
struct FragmentReader {
  unsigned place;

  __device__ explicit FragmentReader(int row) {
    const int lane = threadIdx.x % 32, low = lane >> 3 & 1, high = lane >> 4;
    const int row_half = SECOND ? high : low, k_half = SECOND ? low : high;
    place = CROSSING ? Layout::place(lane % 8 + 8 * k_half, row / 8 + row_half)
                     : Layout::place(row + lane % 8 + 8 * row_half, k_half);
    keep(place);
  }
  /// The i-th: rows from 16 i on. `valid`: as load_matrices() takes it, if at all.
  template <class... Valid>
  __device__ void read(Packed& to, unsigned tile, int k, int i, Valid... valid) const {
    constexpr int kLineBytes = 2 * Layout::kPitch;
    load_matrices<CROSSING>(
        to,
        CROSSING ? (tile + place ^ i * 32) + k * kLineBytes : (tile + place ^ k * 2) + i * 16 * kLineBytes,
        valid...);
  }
};

}  // namespace lockstep::libraries::blas
