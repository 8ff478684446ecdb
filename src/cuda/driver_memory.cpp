// Memory, copies and fills of the driver API.
#include <algorithm>
#include <cstring>

#include "cuda/array.hpp"
#include "cuda/driver.hpp"

namespace lockstep::cuda {

namespace {

std::byte* bytes_at(DevicePointer address) { return reinterpret_cast<std::byte*>(address); }

/// The addresses of a DevicePointer and of a void* are the same bytes.
void** as_pointer(DevicePointer* address) { return reinterpret_cast<void**>(address); }

int copy(void* to, const void* from, std::size_t bytes, int kind, void* stream, bool wait) {
  return driver([&] {
    return wait ? cudaMemcpy(to, from, bytes, kind)
                : cudaMemcpyAsync(to, from, bytes, kind, static_cast<abi::Stream>(stream));
  });
}

int fill(DevicePointer to, std::size_t pitch, std::uint32_t value, unsigned element, std::size_t width,
         std::size_t height, void* stream) {
  return driver_api([&](Runtime& rt) {
    require(to % element == 0 && (height <= 1 || (pitch % element == 0 && width <= pitch / element)));
    if (is_empty(width, height)) return;
    rt.submit(static_cast<abi::Stream>(stream),
              Fill{bytes_at(to), pitch, slice_of(pitch, height), value, element, width, height, 1});
  });
}

/// CUDA_MEMCPY2D.
struct Side {
  std::size_t x, y;  // bytes, rows
  int type;          // 1 host, 2 device, 3 array, 4 unified
  const void* host;
  DevicePointer device;
  void* array;
  std::size_t pitch;
};
struct Copy2D {
  Side from, to;
  std::size_t width, height;
};
static_assert(sizeof(Copy2D) == 128);

CopyEnd end_of(Runtime& rt, const Side& side, std::size_t width, std::size_t height) {
  CopyEnd end;
  end.pitch = side.pitch != 0 ? side.pitch : width;
  if (side.type == MemoryType::kArray) {
    const Array& array = rt.arrays.at(side.array);
    require(array.has_rows(side.x, side.y, width, height));
    end.address = bytes_at(array.address);
    end.pitch = array.pitch;
  } else {
    require(side.type >= MemoryType::kHost && side.type <= MemoryType::kUnified);
    end.address = side.type == MemoryType::kHost ? static_cast<std::byte*>(const_cast<void*>(side.host))
                                                 : bytes_at(side.device);
    require(end.address != nullptr && end.pitch >= width);
  }
  end.address += side.y * end.pitch + side.x;
  end.slice = slice_of(end.pitch, height);
  return end;
}

int copy_2d(const Copy2D* c, abi::Stream stream) {
  return driver_api([&](Runtime& rt) {
    require(c != nullptr);
    if (is_empty(c->width, c->height)) return;
    rt.submit(stream, Copy{end_of(rt, c->to, c->width, c->height), end_of(rt, c->from, c->width, c->height),
                           c->width, c->height, 1, abi::kDefault});
  });
}

}  // namespace

LOCKSTEP_CUDA_API cuMemAlloc_v2(DevicePointer* p, std::size_t bytes) {
  if (bytes == 0) return static_cast<int>(Status::kErrorInvalidValue);
  return driver([&] { return cudaMalloc(as_pointer(p), bytes); });
}
LOCKSTEP_CUDA_API cuMemFree_v2(DevicePointer p) {
  return driver([&] { return cudaFree(pointer_to(p)); });
}
LOCKSTEP_CUDA_API cuMemAllocManaged(DevicePointer* p, std::size_t bytes, unsigned flags) {
  return driver([&] { return cudaMallocManaged(as_pointer(p), bytes, flags); });
}
LOCKSTEP_CUDA_API cuMemAllocPitch_v2(DevicePointer* p, std::size_t* pitch, std::size_t width,
                                     std::size_t height, unsigned element) {
  if (element != 4 && element != 8 && element != 16) return static_cast<int>(Status::kErrorInvalidValue);
  return driver([&] { return cudaMallocPitch(as_pointer(p), pitch, width, height); });
}
LOCKSTEP_CUDA_API cuMemAllocHost_v2(void** p, std::size_t bytes) {
  return driver([&] { return cudaHostAlloc(p, bytes, 0); });
}
LOCKSTEP_CUDA_API cuMemHostAlloc(void** p, std::size_t bytes, unsigned flags) {
  return driver([&] { return cudaHostAlloc(p, bytes, flags); });
}
LOCKSTEP_CUDA_API cuMemFreeHost(void* p) {
  return driver([&] { return cudaFreeHost(p); });
}
LOCKSTEP_CUDA_API cuMemHostRegister_v2(void* p, std::size_t bytes, unsigned flags) {
  return driver([&] { return cudaHostRegister(p, bytes, flags); });
}
LOCKSTEP_CUDA_API cuMemHostUnregister(void* p) {
  return driver([&] { return cudaHostUnregister(p); });
}
LOCKSTEP_CUDA_API cuMemHostGetDevicePointer_v2(DevicePointer* p, void* host, unsigned flags) {
  return driver([&] { return cudaHostGetDevicePointer(as_pointer(p), host, flags); });
}
LOCKSTEP_CUDA_API cuMemAllocAsync(DevicePointer* p, std::size_t bytes, void* stream) {
  return driver([&] { return cudaMallocAsync(as_pointer(p), bytes, static_cast<abi::Stream>(stream)); });
}
LOCKSTEP_CUDA_API cuMemFreeAsync(DevicePointer p, void* stream) {
  return driver([&] { return cudaFreeAsync(pointer_to(p), static_cast<abi::Stream>(stream)); });
}
LOCKSTEP_CUDA_API cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total) {
  return driver([&] { return cudaMemGetInfo(free_bytes, total); });
}
LOCKSTEP_CUDA_API cuMemGetAddressRange_v2(DevicePointer* begin, std::size_t* bytes, DevicePointer p) {
  return driver_api([&](Runtime& rt) {
    const auto found = rt.memory.find(p);
    require(found.has_value(), Status::kErrorSymbolNotFound);
    if (begin != nullptr) *begin = found->begin;
    if (bytes != nullptr) *bytes = found->bytes;
  });
}

LOCKSTEP_CUDA_API cuMemcpy(DevicePointer to, DevicePointer from, std::size_t n) {
  return copy(pointer_to(to), pointer_to(from), n, abi::kDefault, nullptr, true);
}
LOCKSTEP_CUDA_API cuMemcpyAsync(DevicePointer to, DevicePointer from, std::size_t n, void* stream) {
  return copy(pointer_to(to), pointer_to(from), n, abi::kDefault, stream, false);
}
LOCKSTEP_CUDA_API cuMemcpyHtoD_v2(DevicePointer to, const void* from, std::size_t n) {
  return copy(pointer_to(to), from, n, abi::kHostToDevice, nullptr, true);
}
LOCKSTEP_CUDA_API cuMemcpyDtoH_v2(void* to, DevicePointer from, std::size_t n) {
  return copy(to, pointer_to(from), n, abi::kDeviceToHost, nullptr, true);
}
LOCKSTEP_CUDA_API cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, std::size_t n) {
  return copy(pointer_to(to), pointer_to(from), n, abi::kDeviceToDevice, nullptr, true);
}
LOCKSTEP_CUDA_API cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t n, void* stream) {
  return copy(pointer_to(to), from, n, abi::kHostToDevice, stream, false);
}
LOCKSTEP_CUDA_API cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t n, void* stream) {
  return copy(to, pointer_to(from), n, abi::kDeviceToHost, stream, false);
}
LOCKSTEP_CUDA_API cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t n, void* stream) {
  return copy(pointer_to(to), pointer_to(from), n, abi::kDeviceToDevice, stream, false);
}
LOCKSTEP_CUDA_API cuMemcpyBatchAsync_v2(void** to, void** from, std::size_t* bytes, std::size_t count,
                                        void* attributes, std::size_t* begins, std::size_t attribute_count,
                                        void* stream) {
  return driver([&] {
    return cudaMemcpyBatchAsync(to, from, bytes, count, attributes, begins, attribute_count,
                                static_cast<abi::Stream>(stream));
  });
}
LOCKSTEP_CUDA_API cuMemcpy2D_v2(const Copy2D* c) { return copy_2d(c, kBlocking); }
LOCKSTEP_CUDA_API cuMemcpy2DUnaligned_v2(const Copy2D* c) { return copy_2d(c, kBlocking); }
LOCKSTEP_CUDA_API cuMemcpy2DAsync_v2(const Copy2D* c, void* stream) {
  return copy_2d(c, static_cast<abi::Stream>(stream));
}

LOCKSTEP_CUDA_API cuMemsetD8_v2(DevicePointer p, unsigned char v, std::size_t n) {
  return fill(p, n, v, 1, n, 1, nullptr);
}
LOCKSTEP_CUDA_API cuMemsetD16_v2(DevicePointer p, unsigned short v, std::size_t n) {
  return fill(p, 2 * n, v, 2, n, 1, nullptr);
}
LOCKSTEP_CUDA_API cuMemsetD32_v2(DevicePointer p, unsigned v, std::size_t n) {
  return fill(p, 4 * n, v, 4, n, 1, nullptr);
}
LOCKSTEP_CUDA_API cuMemsetD8Async(DevicePointer p, unsigned char v, std::size_t n, void* s) {
  return fill(p, n, v, 1, n, 1, s);
}
LOCKSTEP_CUDA_API cuMemsetD16Async(DevicePointer p, unsigned short v, std::size_t n, void* s) {
  return fill(p, 2 * n, v, 2, n, 1, s);
}
LOCKSTEP_CUDA_API cuMemsetD32Async(DevicePointer p, unsigned v, std::size_t n, void* s) {
  return fill(p, 4 * n, v, 4, n, 1, s);
}
LOCKSTEP_CUDA_API cuMemsetD2D8_v2(DevicePointer p, std::size_t pitch, unsigned char v, std::size_t w,
                                  std::size_t h) {
  return fill(p, pitch, v, 1, w, h, nullptr);
}
LOCKSTEP_CUDA_API cuMemsetD2D16_v2(DevicePointer p, std::size_t pitch, unsigned short v, std::size_t w,
                                   std::size_t h) {
  return fill(p, pitch, v, 2, w, h, nullptr);
}
LOCKSTEP_CUDA_API cuMemsetD2D32_v2(DevicePointer p, std::size_t pitch, unsigned v, std::size_t w,
                                   std::size_t h) {
  return fill(p, pitch, v, 4, w, h, nullptr);
}
LOCKSTEP_CUDA_API cuMemsetD2D8Async(DevicePointer p, std::size_t pitch, unsigned char v, std::size_t w,
                                    std::size_t h, void* s) {
  return fill(p, pitch, v, 1, w, h, s);
}
LOCKSTEP_CUDA_API cuMemsetD2D16Async(DevicePointer p, std::size_t pitch, unsigned short v, std::size_t w,
                                     std::size_t h, void* s) {
  return fill(p, pitch, v, 2, w, h, s);
}
LOCKSTEP_CUDA_API cuMemsetD2D32Async(DevicePointer p, std::size_t pitch, unsigned v, std::size_t w,
                                     std::size_t h, void* s) {
  return fill(p, pitch, v, 4, w, h, s);
}

}  // namespace lockstep::cuda
