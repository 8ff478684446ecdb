// Texture and surface objects: what a handle in a kernel's register stands for.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "util/types.hpp"

namespace lockstep::exec {

enum class TexelKind : std::uint8_t { kUnsigned, kSigned, kFloat };

/// One texel: `channels` values of `bits` each, first channel first.
struct TexelFormat {
  std::uint8_t channels = 1;  // 1, 2 or 4
  std::uint8_t bits = 32;     // 8, 16 or 32 of one channel; kFloat: 16 or 32
  TexelKind kind = TexelKind::kFloat;
  [[nodiscard]] std::uint32_t bytes() const { return std::uint32_t{channels} * bits / 8; }
};

/// Texels in device memory: rows of `width` texels, `row_pitch` bytes apart; slices (depth, layers or cube
/// faces, layer by layer) `slice_pitch` bytes apart. A dimension that the image does not have is 1.
struct Image {
  Address data = 0;
  TexelFormat format;
  std::uint32_t width = 1, height = 1, depth = 1;  // texels
  std::uint32_t layers = 1;                        // of a layered image; a cube counts as 6
  std::uint64_t row_pitch = 0, slice_pitch = 0;    // bytes
  bool block_linear = false;                       // a CUDA array: see TexelLayout
};

enum class AddressMode : std::uint8_t { kWrap, kClamp, kMirror, kBorder };

/// cudaTextureDesc and the memory it reads. `levels` has one image for each mipmap level, at least one.
struct Texture {
  std::vector<Image> levels;
  std::array<AddressMode, 3> address{AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp};
  bool linear_filter = false;  // otherwise the nearest texel
  bool linear_mipmap = false;  // between levels
  bool normalized_coordinates = false;
  bool normalized_values = false;  // 8 and 16-bit integers read as [0, 1] or [-1, 1]
  bool srgb = false;               // 8-bit values are sRGB
  std::array<float, 4> border{};   // values outside, AddressMode::kBorder
  float level_bias = 0, min_level = 0, max_level = 0;
};

/// Handles are numbered in the order of creation, so they are the same in every run; they are never 0 and
/// never used again. Not thread-safe for changes.
class TextureTable {
 public:
  std::uint64_t add(Texture texture);
  std::uint64_t add_surface(Image image);
  /// False where there is no such object.
  bool remove(std::uint64_t handle);
  /// nullptr where the handle names none. Good until remove().
  [[nodiscard]] const Texture* texture(std::uint64_t handle) const;
  [[nodiscard]] const Image* surface(std::uint64_t handle) const;

 private:
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Texture> textures_;
  std::map<std::uint64_t, Image> surfaces_;
};

}  // namespace lockstep::exec
