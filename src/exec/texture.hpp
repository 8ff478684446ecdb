// Reading a texture as the texture unit does (CUDA C++ Programming Guide, appendix "Texture Fetching").
#pragma once

#include <array>
#include <cstdint>

#include "exec/device_memory.hpp"
#include "exec/texel_layout.hpp"
#include "exec/texture_table.hpp"

namespace lockstep::exec {

enum class Geometry : std::uint8_t { k1D, k2D, k3D, kCube };

/// One lane's fetch. Coordinates are in texels or, where the texture says so, normalised; for a cube a
/// direction.
struct Fetch {
  Geometry geometry = Geometry::k2D;
  bool layered = false;
  bool integer = false;  // coordinates name texels: no filter, no normalisation; outside of a 1D texture is 0
  std::array<float, 3> at{};
  std::array<std::int32_t, 3> texel{};
  std::uint32_t layer = 0;
  float level = 0;  // of detail; nothing but 0 where the instruction gives none
};

/// Where the texels lie that a fetch has read (TexelLayout), each once for every time it was read.
struct ReadTexels {
  static constexpr unsigned kMax = 16;  // two levels of a filtered volume
  std::array<Address, kMax> at;         // the first `count` of them
  unsigned count = 0;
};

/// Four 32-bit values: binary32 where the texels are floats or read as normalised values, otherwise the
/// integers, sign-extended by their kind. Channels that the texels lack are 0, the fourth 1. Filter weights
/// have 8 fractional bits, rounded to nearest. Cubes are filtered within a face. Sets `fault` to the address
/// of a texel that is not in mapped memory and returns zeros then.
[[nodiscard]] std::array<std::uint32_t, 4> fetch(const Texture& texture, const Fetch& what,
                                                 const DeviceView& memory, Address& fault,
                                                 ReadTexels* read = nullptr);

/// tld4: one channel of the four texels that a linear filter would read, in the order (0,1) (1,1) (1,0) (0,0)
/// of (x, y) offsets.
[[nodiscard]] std::array<std::uint32_t, 4> gather(const Texture& texture, const Fetch& what, unsigned channel,
                                                  const DeviceView& memory, Address& fault,
                                                  ReadTexels* read = nullptr);

/// Level of detail of a fetch with gradients in texture coordinates: log2 of the longer one in texels.
[[nodiscard]] float level_of(const Texture& texture, unsigned dimensions, const float* dx, const float* dy);

}  // namespace lockstep::exec
