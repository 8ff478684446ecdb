// Where the texels of an image lie for the timing model.
#pragma once

#include <cstdint>

#include "exec/texture_table.hpp"

namespace lockstep::exec {

/// CUDA arrays are kept row by row here, which only timing can distinguish from what the hardware does: block
/// linear, tiles ("GOBs") of 64 bytes by 8 rows, in which 32 bytes are 16 bytes of two rows; tiles stand in
/// blocks of up to 16 above each other, no higher than the image needs. (Tegra X1 Technical Reference Manual,
/// "block linear", by the public tegra_swizzle; Linux drm_fourcc.h, NVIDIA_16BX2_BLOCK; minigbm tegra.c for
/// the height of blocks. An RTX 3070's counters agree: 8 sectors for 32 texels of 4 bytes in a row, half of
/// them found in the L1, github.com/mushihao/cuda, nv_study.) Slices follow each other (assumed: blocks one
/// slice deep). Images of one row and linear memory are as they are.
class TexelLayout {
 public:
  static constexpr std::uint64_t kTileBytes = 64, kTileRows = 8, kMaxTiles = 16;

  explicit TexelLayout(const Image& image) : image_(&image), tiled_(image.block_linear && image.height > 1) {
    if (!tiled_) return;
    while (block_rows_ < kTileRows * kMaxTiles && block_rows_ < image.height) block_rows_ *= 2;
    row_tiles_ = (image.row_pitch + kTileBytes - 1) / kTileBytes;
    slice_bytes_ = row_tiles_ * kTileBytes * ((image.height + block_rows_ - 1) / block_rows_) * block_rows_;
  }

  /// Bytes from one slice to the next.
  [[nodiscard]] std::uint64_t slice_bytes() const { return tiled_ ? slice_bytes_ : image_->slice_pitch; }
  /// The place of texel `x` in row `y` of a slice.
  [[nodiscard]] Address place(std::uint64_t x, std::uint64_t y, std::uint64_t slice) const {
    const std::uint64_t byte = x * image_->format.bytes();
    if (!tiled_) return image_->data + slice * image_->slice_pitch + y * image_->row_pitch + byte;
    const std::uint64_t block = y / block_rows_ * row_tiles_ + byte / kTileBytes;
    const std::uint64_t tile = y % block_rows_ / kTileRows;
    return image_->data + slice * slice_bytes_ + block * block_rows_ * kTileBytes +
           tile * kTileRows * kTileBytes + in_tile(byte % kTileBytes, y % kTileRows);
  }

 private:
  static std::uint64_t in_tile(std::uint64_t x, std::uint64_t y) {
    return x / 32 * 256 + y / 2 * 64 + x % 32 / 16 * 32 + y % 2 * 16 + x % 16;
  }

  const Image* image_;
  bool tiled_;
  std::uint64_t block_rows_ = kTileRows, row_tiles_ = 0, slice_bytes_ = 0;
};

}  // namespace lockstep::exec
