// CUDA_MEMCPY3D of the driver API: one side of a copy is host or device memory or an array.
#pragma once

#include "cuda/driver.hpp"

namespace lockstep::cuda {

struct Side3D {
  std::size_t x, y, z, level;  // bytes, rows, slices
  int type;                    // 1 host, 2 device, 3 array, 4 unified
  const void* host;
  DevicePointer device;
  void *array, *reserved;
  std::size_t pitch, height;
};
struct Copy3D {
  Side3D from, to;
  std::size_t width, height, depth;
};
static_assert(sizeof(Copy3D) == 200 && offsetof(Copy3D, width) == 176);

/// Throws ApiError(InvalidValue) for what is empty or lies outside an array.
[[nodiscard]] Copy copy_of(Runtime& rt, const Copy3D& copy);
/// The inverse: parameters of an equal copy, of unified addresses and arrays.
[[nodiscard]] Copy3D parameters_of(const Arrays& arrays, const Copy& copy);

}  // namespace lockstep::cuda
