// CUDA arrays and the copies that name them.
#include <algorithm>

#include "cuda/api.hpp"
#include "cuda/array.hpp"

namespace lockstep::cuda {

Array& make_array(Runtime& rt, const abi::ChannelFormatDesc& format, abi::Extent size, unsigned flags) {
  require(size.width > 0 && flags <= kArrayLastFlag);
  if ((flags & (kArraySparse | kArrayDeferred)) != 0)
    throw ApiError(Status::kErrorNotSupported, "arrays without memory of their own are not supported");
  constexpr std::size_t kMaxExtent = 131072;  // CUDA C++ Programming Guide, "Technical Specifications"
  require(std::max({size.width, size.height, size.depth}) <= kMaxExtent);
  auto array = std::make_unique<Array>();
  array->format = format;
  array->width = size.width;
  array->height = size.height;
  array->depth = size.depth;
  array->flags = flags;
  array->texel_bytes = texel_format(format).bytes();
  array->pitch = size.width * array->texel_bytes;
  const auto address = rt.memory.allocate(array->reserved(), exec::MemoryKind::kDevice,
                                          exec::DeviceMemory::kAlignment, current_device());
  require(address.has_value(), Status::kErrorMemoryAllocation);
  array->address = *address;
  return rt.arrays.add(std::move(array));
}

namespace {

int make(void** handle, const abi::ChannelFormatDesc* format, abi::Extent size, unsigned flags) {
  return api([&](Runtime& rt) {
    require(handle != nullptr && format != nullptr);
    *handle = &make_array(rt, *format, size, flags);
  });
}

int to_array_2d(void* array, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                std::size_t width, std::size_t height, int kind, abi::Stream stream) {
  return api([&](Runtime& rt) {
    const Array& a = rt.arrays.at(array);
    require(a.has_rows(x, y, width, height));
    if (width * height > 0)
      rt.submit(stream, Copy{a.part(x, y), linear_rows(from, pitch, width, height), width, height, 1, kind});
  });
}
int from_array_2d(void* to, std::size_t pitch, void* array, std::size_t x, std::size_t y, std::size_t width,
                  std::size_t height, int kind, abi::Stream stream) {
  return api([&](Runtime& rt) {
    const Array& a = rt.arrays.at(array);
    require(a.has_rows(x, y, width, height));
    if (width * height > 0)
      rt.submit(stream, Copy{linear_rows(to, pitch, width, height), a.part(x, y), width, height, 1, kind});
  });
}
/// The 1D forms run through the array's rows as if they were one.
int to_array_1d(void* array, std::size_t x, std::size_t y, const void* from, std::size_t n, int kind,
                abi::Stream s) {
  return api([&](Runtime& rt) {
    const Array& a = rt.arrays.at(array);
    require(a.has_run(x, y, n));
    if (n > 0) rt.submit(s, Copy{a.part(x, y), linear(from, n, n), n, 1, 1, kind});
  });
}
int from_array_1d(void* to, void* array, std::size_t x, std::size_t y, std::size_t n, int kind,
                  abi::Stream s) {
  return api([&](Runtime& rt) {
    const Array& a = rt.arrays.at(array);
    require(a.has_run(x, y, n));
    if (n > 0) rt.submit(s, Copy{linear(to, n, n), a.part(x, y), n, 1, 1, kind});
  });
}
int copy_3d(const abi::Memcpy3DParms* p, abi::Stream stream) {
  return api([&](Runtime& rt) {
    require(p != nullptr);
    Copy copy = rt.arrays.copy_3d(*p);
    if (!is_empty(copy.width, copy.height, copy.depth)) rt.submit(stream, copy);
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) abi::ChannelFormatDesc cudaCreateChannelDesc(int x, int y,
                                                                                               int z, int w,
                                                                                               int f) {
  return {x, y, z, w, f};
}
LOCKSTEP_CUDA_API cudaMallocArray(void** array, const abi::ChannelFormatDesc* format, std::size_t width,
                                  std::size_t height, unsigned flags) {
  return make(array, format, {width, height, 0}, flags);
}
LOCKSTEP_CUDA_API cudaMalloc3DArray(void** array, const abi::ChannelFormatDesc* format, abi::Extent size,
                                    unsigned flags) {
  return make(array, format, size, flags);
}
LOCKSTEP_CUDA_API cudaFreeArray(void* handle) {
  return api([&](Runtime& rt) {
    if (handle == nullptr) return;
    Array& array = rt.arrays.at(handle);
    rt.held.wait_all();
    rt.memory.release(array.address);
    rt.arrays.remove(array);
  });
}
LOCKSTEP_CUDA_API cudaGetChannelDesc(abi::ChannelFormatDesc* format, void* handle) {
  return api([&](Runtime& rt) {
    require(format != nullptr);
    *format = rt.arrays.at(handle).format;
  });
}
LOCKSTEP_CUDA_API cudaArrayGetInfo(abi::ChannelFormatDesc* format, abi::Extent* extent, unsigned* flags,
                                   void* handle) {
  return api([&](Runtime& rt) {
    const Array& a = rt.arrays.at(handle);
    if (format != nullptr) *format = a.format;
    if (extent != nullptr) *extent = {a.width, a.height, a.depth};
    if (flags != nullptr) *flags = a.flags;
  });
}

LOCKSTEP_CUDA_API cudaMemcpyToArray(void* a, std::size_t x, std::size_t y, const void* from, std::size_t n,
                                    int kind) {
  return to_array_1d(a, x, y, from, n, kind, kBlocking);
}
LOCKSTEP_CUDA_API cudaMemcpyToArrayAsync(void* a, std::size_t x, std::size_t y, const void* from,
                                         std::size_t n, int kind, abi::Stream s) {
  return to_array_1d(a, x, y, from, n, kind, s);
}
LOCKSTEP_CUDA_API cudaMemcpyFromArray(void* to, void* a, std::size_t x, std::size_t y, std::size_t n,
                                      int kind) {
  return from_array_1d(to, a, x, y, n, kind, kBlocking);
}
LOCKSTEP_CUDA_API cudaMemcpyFromArrayAsync(void* to, void* a, std::size_t x, std::size_t y, std::size_t n,
                                           int kind, abi::Stream s) {
  return from_array_1d(to, a, x, y, n, kind, s);
}
LOCKSTEP_CUDA_API cudaMemcpy2DToArray(void* a, std::size_t x, std::size_t y, const void* from, std::size_t p,
                                      std::size_t w, std::size_t h, int kind) {
  return to_array_2d(a, x, y, from, p, w, h, kind, kBlocking);
}
LOCKSTEP_CUDA_API cudaMemcpy2DToArrayAsync(void* a, std::size_t x, std::size_t y, const void* from,
                                           std::size_t p, std::size_t w, std::size_t h, int kind,
                                           abi::Stream s) {
  return to_array_2d(a, x, y, from, p, w, h, kind, s);
}
LOCKSTEP_CUDA_API cudaMemcpy2DFromArray(void* to, std::size_t p, void* a, std::size_t x, std::size_t y,
                                        std::size_t w, std::size_t h, int kind) {
  return from_array_2d(to, p, a, x, y, w, h, kind, kBlocking);
}
LOCKSTEP_CUDA_API cudaMemcpy2DFromArrayAsync(void* to, std::size_t p, void* a, std::size_t x, std::size_t y,
                                             std::size_t w, std::size_t h, int kind, abi::Stream s) {
  return from_array_2d(to, p, a, x, y, w, h, kind, s);
}
LOCKSTEP_CUDA_API cudaMemcpy3D(const abi::Memcpy3DParms* p) { return copy_3d(p, kBlocking); }
LOCKSTEP_CUDA_API cudaMemcpy3D_ptds(const abi::Memcpy3DParms* p) { return copy_3d(p, kBlocking); }
LOCKSTEP_CUDA_API cudaMemcpy3DAsync(const abi::Memcpy3DParms* p, abi::Stream s) { return copy_3d(p, s); }
LOCKSTEP_CUDA_API cudaMemcpy3DAsync_ptsz(const abi::Memcpy3DParms* p, abi::Stream s) { return copy_3d(p, s); }

}  // namespace lockstep::cuda
