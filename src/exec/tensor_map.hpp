// Tensor maps: the 128-byte objects that bulk tensor copies take. NVIDIA's format is not public; this
// one is ours, made by cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col and read by the executor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "ptx/words.hpp"
#include "util/types.hpp"

namespace lockstep::exec {

inline constexpr unsigned kTensorMapBytes = 128, kTensorMapAlign = 64, kMaxTensorRank = 5;

/// What a copy takes of a tensor in global memory: a tile, or pixels of images for a convolution (im2col).
/// Dimension 0 is the innermost one; of images the channels, then W (H, D), and N last. Limits and meaning:
/// cuda.h, cuTensorMapEncodeTiled and -Im2col; interleaved layouts and filling with NaN are not supported.
struct TensorMap {
  ptx::Type type = ptx::Type::kU8;
  std::uint32_t rank = 1;
  std::uint32_t swizzle_bits = 0;  // 0 none, 1 to 3: 32, 64, 128 bytes
  Address address = 0;
  std::array<std::uint64_t, kMaxTensorRank> dim{1, 1, 1, 1, 1};   // elements
  std::array<std::uint64_t, kMaxTensorRank> stride{};             // bytes; [0] is the size of an element
  std::array<std::uint32_t, kMaxTensorRank> box{1, 1, 1, 1, 1};   // elements that a copy spans
  std::array<std::uint32_t, kMaxTensorRank> step{1, 1, 1, 1, 1};  // of which it takes every step-th; [0] is 1
  /// im2col: pixels that a copy takes; box[0] are its channels. 0: a tile.
  std::uint32_t pixels = 0;
  /// im2col: of W, H and D the first position of a filter, and its last one less the image's last pixel.
  std::array<std::int32_t, kMaxTensorRank> lower{}, upper{};

  [[nodiscard]] bool is_im2col() const { return pixels != 0; }
  /// Whether a filter moves along the dimension.
  [[nodiscard]] bool is_spatial(unsigned d) const { return is_im2col() && d > 0 && d + 1 < rank; }
  [[nodiscard]] std::uint32_t element_bytes() const { return ptx::bytes(type); }
  /// Elements that a copy takes along a dimension.
  [[nodiscard]] std::uint32_t count(unsigned d) const { return (box[d] + step[d] - 1) / step[d]; }
  [[nodiscard]] std::uint32_t row_bytes() const { return box[0] * element_bytes(); }
  /// From row to row in shared memory: a row that is shorter than the swizzle's span fills it (CUDA C++
  /// programming guide, tensor memory access, swizzle modes).
  [[nodiscard]] std::uint32_t row_pitch() const {
    const std::uint32_t span = swizzle_bits == 0 ? 0 : 16u << swizzle_bits;
    return row_bytes() > span ? row_bytes() : span;
  }
  [[nodiscard]] std::uint32_t rows() const {
    return is_im2col() ? pixels : count(1) * count(2) * count(3) * count(4);
  }

  /// Are all values within the limits of cuTensorMapEncodeTiled, or of -Im2col?
  [[nodiscard]] bool valid() const;
  [[nodiscard]] bool valid_im2col() const;

  void pack(std::byte* to) const;
  /// Nothing where there is no tensor map or one with values that are not allowed.
  [[nodiscard]] static std::optional<TensorMap> unpack(const std::byte* from);
};

/// The element type of a number of CUtensorMapDataType; nothing where it is not there.
[[nodiscard]] std::optional<ptx::Type> tensor_type(unsigned number);

/// A field that tensormap.replace changes.
enum class TensorField : std::uint8_t {
  kAddress,
  kRank,  // less one
  kBox,
  kDim,
  kStride,
  kStep,
  kType,
  kInterleave,
  kSwizzle,
  kFill
};
/// Changes a field in a packed object, which may be invalid until others are changed too. `number`:
/// dimension. False: there is no object, or the value is not there here.
[[nodiscard]] bool replace_tensor_field(std::byte* object, TensorField field, unsigned number,
                                        std::uint64_t value);

}  // namespace lockstep::exec
