// An image whose texels say where they are.
#pragma once

#include <cstring>

#include "exec/device_memory.hpp"
#include "exec/texture_table.hpp"

namespace lockstep::exec::test {

/// Texel (x, y, z) has the value x + 100 y + 10000 z.
struct Ramp {
  Ramp(DeviceMemory& memory, std::uint32_t width, std::uint32_t height, std::uint32_t slices) {
    image.width = width;
    image.height = height;
    image.row_pitch = std::uint64_t{width} * 4 + 32;
    image.slice_pitch = image.row_pitch * height;
    image.data = *memory.allocate(image.slice_pitch * slices);
    for (std::uint32_t z = 0; z < slices; ++z)
      for (std::uint32_t y = 0; y < height; ++y)
        for (std::uint32_t x = 0; x < width; ++x) {
          const auto value = static_cast<float>(x + 100 * y + 10000 * z);
          std::memcpy(
              reinterpret_cast<void*>(image.data + z * image.slice_pitch + y * image.row_pitch + 4 * x),
              &value, sizeof value);
        }
  }
  Image image;
};

}  // namespace lockstep::exec::test
