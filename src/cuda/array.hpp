// CUDA arrays: texels of one format in 1 to 3 dimensions, kept in device memory row by row.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "cuda/abi.hpp"
#include "cuda/operation.hpp"
#include "exec/texture_table.hpp"

namespace lockstep::cuda {

/// Flags of cudaMalloc3DArray, as in the runtime's headers.
inline constexpr unsigned kArrayLayered = 1, kArraySurface = 2, kArrayCubemap = 4, kArraySparse = 0x40,
                          kArrayDeferred = 0x80, kArrayLastFlag = 0xff;

/// Throws ApiError(InvalidChannelDescriptor) unless it has 1, 2 or 4 channels of 8, 16 or 32 bits each.
[[nodiscard]] exec::TexelFormat texel_format(const abi::ChannelFormatDesc& format);

/// What a cudaArray_t points to.
struct Array {
  abi::ChannelFormatDesc format{};
  std::size_t width = 0, height = 0, depth = 0;  // texels, as given to the runtime: 0 for a missing dimension
  unsigned flags = 0;
  std::size_t texel_bytes = 0, pitch = 0;  // of a texel, of a row
  Address address = 0;

  [[nodiscard]] std::size_t rows() const { return height > 0 ? height : 1; }
  [[nodiscard]] std::size_t slices() const { return depth > 0 ? depth : 1; }
  [[nodiscard]] std::size_t bytes() const { return pitch * rows() * slices(); }
  /// Device memory that the hardware's layout needs (exec::TexelLayout), at least bytes().
  [[nodiscard]] std::size_t reserved() const;
  [[nodiscard]] exec::Image image() const;
  /// Whether `count` rows of `row_bytes` bytes from byte `x` of row `y` on are inside.
  [[nodiscard]] bool has_rows(std::size_t x, std::size_t y, std::size_t row_bytes, std::size_t count) const {
    return x <= pitch && row_bytes <= pitch - x && y <= rows() && count <= rows() - y;
  }
  /// Whether a box of that many texels from there on is inside.
  [[nodiscard]] bool has_box(const abi::Pos& at, const abi::Extent& extent) const {
    return at.x <= width && extent.width <= width - at.x && at.y <= rows() &&
           extent.height <= rows() - at.y && at.z <= slices() && extent.depth <= slices() - at.z;
  }
  /// Whether `n` bytes from there on are inside, where rows follow each other.
  [[nodiscard]] bool has_run(std::size_t x, std::size_t y, std::size_t n) const {
    return x < pitch && y < rows() && n <= bytes() - y * pitch - x;
  }
  /// As one side of a copy: from byte `x` of row `y` of slice `z` on. Throws ApiError(InvalidValue) where
  /// that is outside.
  [[nodiscard]] CopyEnd part(std::size_t x, std::size_t y, std::size_t z = 0) const;
  /// Where the byte is that a copy begins with: texel, row, slice.
  [[nodiscard]] abi::Pos position(const std::byte* inside) const;
};

class Runtime;

/// In the memory of the calling thread's device. Throws ApiError.
[[nodiscard]] Array& make_array(Runtime& rt, const abi::ChannelFormatDesc& format, abi::Extent size,
                                unsigned flags);

/// What a cudaMipmappedArray_t points to: each level half as large as the one before.
struct MipmappedArray {
  std::vector<Array*> levels;
};

/// Linear memory as one side of a copy. Throws ApiError(InvalidValue) for a null pointer.
[[nodiscard]] CopyEnd linear(const void* pointer, std::size_t pitch, std::size_t slice);
/// The same for rows of `width` bytes. Throws ApiError(InvalidPitchValue) where they are longer than `pitch`.
[[nodiscard]] CopyEnd linear_rows(const void* pointer, std::size_t pitch, std::size_t width,
                                  std::size_t height);

/// The arrays of the process, by their handles.
class Arrays {
 public:
  Array& add(std::unique_ptr<Array> array);
  /// Throws ApiError(InvalidResourceHandle).
  [[nodiscard]] Array& at(const void* handle) const;
  void remove(Array& array) { arrays_.erase(&array); }
  MipmappedArray& add(std::unique_ptr<MipmappedArray> mipmapped);
  /// Throws ApiError(InvalidResourceHandle).
  [[nodiscard]] MipmappedArray& mipmapped(const void* handle) const;
  void remove(MipmappedArray& mipmapped) { mipmapped_.erase(&mipmapped); }
  void remove_if(const std::function<bool(const Array&)>& is_gone);
  /// What cudaMemcpy3D copies. Throws ApiError(InvalidValue) for what lies outside an array or names no or
  /// two sides.
  [[nodiscard]] Copy copy_3d(const abi::Memcpy3DParms& p) const;
  /// The inverse: parameters of an equal copy. Positions in linear memory are part of the pointers.
  [[nodiscard]] abi::Memcpy3DParms parameters_of(const Copy& copy) const;
  /// The array in whose memory this is; nullptr where there is none.
  [[nodiscard]] const Array* find(const std::byte* address) const;

 private:
  std::map<const Array*, std::unique_ptr<Array>> arrays_;
  std::map<const MipmappedArray*, std::unique_ptr<MipmappedArray>> mipmapped_;
};

}  // namespace lockstep::cuda
