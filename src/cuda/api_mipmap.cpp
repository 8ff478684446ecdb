// Mipmapped arrays, copies between arrays, and what only sparse and planar arrays have.
#include <algorithm>
#include <bit>

#include "cuda/api.hpp"
#include "cuda/array.hpp"

namespace lockstep::cuda {

namespace {

/// A dimension of level `level`; 0 is a dimension that is not there.
std::size_t at_level(std::size_t size, unsigned level) {
  return size == 0 ? 0 : std::max<std::size_t>(size >> level, 1);
}

int make(void** handle, const abi::ChannelFormatDesc* format, abi::Extent size, unsigned levels,
         unsigned flags) {
  return api([&](Runtime& rt) {
    require(handle != nullptr && format != nullptr && size.width > 0);
    const bool layered = (flags & (kArrayLayered | kArrayCubemap)) != 0;
    const std::size_t largest = std::max({size.width, size.height, layered ? 0 : size.depth});
    // At least one, at most down to a single texel (CUDA Runtime API, cudaMallocMipmappedArray).
    const unsigned count = std::clamp(levels, 1U, static_cast<unsigned>(std::bit_width(largest)));
    auto made = std::make_unique<MipmappedArray>();
    for (unsigned level = 0; level < count; ++level)
      made->levels.push_back(&make_array(rt, *format,
                                         {at_level(size.width, level), at_level(size.height, level),
                                          layered ? size.depth : at_level(size.depth, level)},
                                         flags));
    *handle = &rt.arrays.add(std::move(made));
  });
}

/// Rows of bytes from one array to another.
int copy(void* to, std::size_t x, std::size_t y, const void* from, std::size_t from_x, std::size_t from_y,
         std::size_t width, std::size_t height, int kind) {
  return api([&](Runtime& rt) {
    const Array &target = rt.arrays.at(to), &source = rt.arrays.at(from);
    require(target.has_rows(x, y, width, height) && source.has_rows(from_x, from_y, width, height));
    if (width * height > 0)
      rt.submit(kBlocking, Copy{target.part(x, y), source.part(from_x, from_y), width, height, 1, kind});
  });
}
/// The 1D form runs through the rows as if they were one.
int copy_line(void* to, std::size_t x, std::size_t y, const void* from, std::size_t from_x,
              std::size_t from_y, std::size_t n, int kind) {
  return api([&](Runtime& rt) {
    const Array &target = rt.arrays.at(to), &source = rt.arrays.at(from);
    require(target.has_run(x, y, n) && source.has_run(from_x, from_y, n));
    if (n > 0) rt.submit(kBlocking, Copy{target.part(x, y), source.part(from_x, from_y), n, 1, 1, kind});
  });
}

/// An array that is there and neither sparse nor planar nor without memory: no array here is.
int ordinary(const void* array) {
  return api([&](Runtime& rt) {
    (void)rt.arrays.at(array);
    throw ApiError(Status::kErrorInvalidValue);
  });
}
int ordinary_mipmapped(const void* array) {
  return api([&](Runtime& rt) {
    (void)rt.arrays.mipmapped(array);
    throw ApiError(Status::kErrorInvalidValue);
  });
}

}  // namespace

LOCKSTEP_CUDA_API cudaMallocMipmappedArray(void** array, const abi::ChannelFormatDesc* format,
                                           abi::Extent size, unsigned levels, unsigned flags) {
  return make(array, format, size, levels, flags);
}
LOCKSTEP_CUDA_API cudaGetMipmappedArrayLevel(void** level, const void* array, unsigned number) {
  return api([&](Runtime& rt) {
    const auto& levels = rt.arrays.mipmapped(array).levels;
    require(level != nullptr && number < levels.size());
    *level = levels[number];
  });
}
LOCKSTEP_CUDA_API cudaFreeMipmappedArray(void* handle) {
  return api([&](Runtime& rt) {
    if (handle == nullptr) return;
    MipmappedArray& array = rt.arrays.mipmapped(handle);
    rt.held.wait_all();
    for (Array* level : array.levels) {
      rt.memory.release(level->address);
      rt.arrays.remove(*level);
    }
    rt.arrays.remove(array);
  });
}

LOCKSTEP_CUDA_API cudaMemcpy2DArrayToArray(void* to, std::size_t x, std::size_t y, const void* from,
                                           std::size_t from_x, std::size_t from_y, std::size_t width,
                                           std::size_t height, int kind) {
  return copy(to, x, y, from, from_x, from_y, width, height, kind);
}
LOCKSTEP_CUDA_API cudaMemcpyArrayToArray(void* to, std::size_t x, std::size_t y, const void* from,
                                         std::size_t from_x, std::size_t from_y, std::size_t n, int kind) {
  return copy_line(to, x, y, from, from_x, from_y, n, kind);
}

LOCKSTEP_CUDA_API cudaArrayGetMemoryRequirements(void*, void* array, int) { return ordinary(array); }
LOCKSTEP_CUDA_API cudaArrayGetPlane(void**, void* array, unsigned) { return ordinary(array); }
LOCKSTEP_CUDA_API cudaArrayGetSparseProperties(void*, void* array) { return ordinary(array); }
LOCKSTEP_CUDA_API cudaMipmappedArrayGetMemoryRequirements(void*, void* array, int) {
  return ordinary_mipmapped(array);
}
LOCKSTEP_CUDA_API cudaMipmappedArrayGetSparseProperties(void*, void* array) {
  return ordinary_mipmapped(array);
}

}  // namespace lockstep::cuda
