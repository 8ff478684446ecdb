// Copies and fills of linear memory, in all dimensions.
#include "cuda/api.hpp"

namespace lockstep::cuda {

namespace {

std::byte* bytes_of(const void* pointer) { return static_cast<std::byte*>(const_cast<void*>(pointer)); }

int copy_1d(void* to, const void* from, std::size_t bytes, int kind, abi::Stream stream) {
  return api([&](Runtime& rt) {
    require(kind >= abi::kHostToHost && kind <= abi::kDefault, Status::kErrorInvalidMemcpyDirection);
    if (bytes == 0) return;
    require(to != nullptr && from != nullptr);
    rt.submit(stream, Copy{{bytes_of(to), bytes, bytes}, {bytes_of(from), bytes, bytes}, bytes, 1, 1, kind});
  });
}

int copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
            std::size_t height, int kind, abi::Stream stream) {
  return api([&](Runtime& rt) {
    require(kind >= abi::kHostToHost && kind <= abi::kDefault, Status::kErrorInvalidMemcpyDirection);
    if (width == 0 || height == 0) return;
    require(to != nullptr && from != nullptr);
    // One row has no pitch: a sample of NVIDIA's (CUDALibrarySamples, cusolver_irs_lapack) relies on that.
    if (height == 1) to_pitch = from_pitch = width;
    require(width <= to_pitch && width <= from_pitch, Status::kErrorInvalidPitchValue);
    rt.submit(stream, Copy{{bytes_of(to), to_pitch, slice_of(to_pitch, height)},
                           {bytes_of(from), from_pitch, slice_of(from_pitch, height)},
                           width,
                           height,
                           1,
                           kind});
  });
}

int fill(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height, abi::Stream stream) {
  return api([&](Runtime& rt) {
    if (width == 0 || height == 0) return;
    require(to != nullptr);
    require(width <= pitch, Status::kErrorInvalidPitchValue);
    rt.submit(stream, Fill{bytes_of(to), pitch, slice_of(pitch, height),
                           static_cast<std::uint32_t>(value & 0xff), 1, width, height, 1});
  });
}

int fill_3d(abi::PitchedPtr to, int value, abi::Extent extent, abi::Stream stream) {
  return api([&](Runtime& rt) {
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return;
    require(to.ptr != nullptr && extent.width <= to.pitch);
    rt.submit(stream,
              Fill{bytes_of(to.ptr), to.pitch, slice_of(to.pitch, to.ysize),
                   static_cast<std::uint32_t>(value & 0xff), 1, extent.width, extent.height, extent.depth});
  });
}

}  // namespace

// `_ptds` and `_ptsz` are what programs compiled with per-thread default streams call.
LOCKSTEP_CUDA_API cudaMemcpy(void* to, const void* from, std::size_t n, int kind) {
  return copy_1d(to, from, n, kind, kBlocking);
}
LOCKSTEP_CUDA_API cudaMemcpy_ptds(void* to, const void* from, std::size_t n, int kind) {
  return copy_1d(to, from, n, kind, kBlocking);
}
LOCKSTEP_CUDA_API cudaMemcpyAsync(void* to, const void* from, std::size_t n, int kind, abi::Stream s) {
  return copy_1d(to, from, n, kind, s);
}
LOCKSTEP_CUDA_API cudaMemcpyAsync_ptsz(void* to, const void* from, std::size_t n, int kind, abi::Stream s) {
  return copy_1d(to, from, n, kind, s);
}
namespace {

/// cudaMemcpyAttributes: from when on and from where the copies may read, which here is when they run.
struct CopyAttributes {
  int access_order;
  abi::MemLocation from, to;
  unsigned flags;
};
static_assert(sizeof(CopyAttributes) == 24);

/// Attributes i are those of the copies from begins[i] on.
void check_attributes(const CopyAttributes* attributes, const std::size_t* begins,
                      std::size_t attribute_count, std::size_t copies) {
  constexpr int kFirstOrder = 1, kLastOrder = 3;
  require(attributes != nullptr && begins != nullptr && attribute_count > 0 && attribute_count <= copies);
  require(begins[0] == 0 && begins[attribute_count - 1] < copies);
  for (std::size_t i = 0; i < attribute_count; ++i) {
    require(i == 0 || begins[i - 1] <= begins[i]);
    require(attributes[i].access_order >= kFirstOrder && attributes[i].access_order <= kLastOrder);
  }
}

}  // namespace

/// One after the other, which is one of the orders that are allowed. The stream may not be the legacy default
/// one.
LOCKSTEP_CUDA_API cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* bytes,
                                       std::size_t count, const void* attributes, const std::size_t* begins,
                                       std::size_t attribute_count, abi::Stream s) {
  return api([&](Runtime& rt) {
    require(to != nullptr && from != nullptr && bytes != nullptr && count > 0);
    check_attributes(static_cast<const CopyAttributes*>(attributes), begins, attribute_count, count);
    require(!rt.streams.stream(s).is_default);
    for (std::size_t i = 0; i < count; ++i) {
      const int result = copy_1d(to[i], from[i], bytes[i], abi::kDefault, s);
      require(result == 0, static_cast<Status>(result));
    }
  });
}

LOCKSTEP_CUDA_API cudaMemcpy2D(void* to, std::size_t tp, const void* from, std::size_t fp, std::size_t w,
                               std::size_t h, int kind) {
  return copy_2d(to, tp, from, fp, w, h, kind, kBlocking);
}
LOCKSTEP_CUDA_API cudaMemcpy2D_ptds(void* to, std::size_t tp, const void* from, std::size_t fp, std::size_t w,
                                    std::size_t h, int kind) {
  return copy_2d(to, tp, from, fp, w, h, kind, kBlocking);
}
LOCKSTEP_CUDA_API cudaMemcpy2DAsync(void* to, std::size_t tp, const void* from, std::size_t fp, std::size_t w,
                                    std::size_t h, int kind, abi::Stream s) {
  return copy_2d(to, tp, from, fp, w, h, kind, s);
}
LOCKSTEP_CUDA_API cudaMemcpy2DAsync_ptsz(void* to, std::size_t tp, const void* from, std::size_t fp,
                                         std::size_t w, std::size_t h, int kind, abi::Stream s) {
  return copy_2d(to, tp, from, fp, w, h, kind, s);
}

LOCKSTEP_CUDA_API cudaMemset(void* to, int value, std::size_t n) { return fill(to, n, value, n, 1, nullptr); }
LOCKSTEP_CUDA_API cudaMemset_ptds(void* to, int value, std::size_t n) {
  return fill(to, n, value, n, 1, nullptr);
}
LOCKSTEP_CUDA_API cudaMemsetAsync(void* to, int value, std::size_t n, abi::Stream s) {
  return fill(to, n, value, n, 1, s);
}
LOCKSTEP_CUDA_API cudaMemsetAsync_ptsz(void* to, int value, std::size_t n, abi::Stream s) {
  return fill(to, n, value, n, 1, s);
}
LOCKSTEP_CUDA_API cudaMemset2D(void* to, std::size_t p, int value, std::size_t w, std::size_t h) {
  return fill(to, p, value, w, h, nullptr);
}
LOCKSTEP_CUDA_API cudaMemset2D_ptds(void* to, std::size_t p, int value, std::size_t w, std::size_t h) {
  return fill(to, p, value, w, h, nullptr);
}
LOCKSTEP_CUDA_API cudaMemset2DAsync(void* to, std::size_t p, int value, std::size_t w, std::size_t h,
                                    abi::Stream s) {
  return fill(to, p, value, w, h, s);
}
LOCKSTEP_CUDA_API cudaMemset2DAsync_ptsz(void* to, std::size_t p, int value, std::size_t w, std::size_t h,
                                         abi::Stream s) {
  return fill(to, p, value, w, h, s);
}
LOCKSTEP_CUDA_API cudaMemset3D(abi::PitchedPtr to, int value, abi::Extent e) {
  return fill_3d(to, value, e, nullptr);
}
LOCKSTEP_CUDA_API cudaMemset3D_ptds(abi::PitchedPtr to, int value, abi::Extent e) {
  return fill_3d(to, value, e, nullptr);
}
LOCKSTEP_CUDA_API cudaMemset3DAsync(abi::PitchedPtr to, int value, abi::Extent e, abi::Stream s) {
  return fill_3d(to, value, e, s);
}
LOCKSTEP_CUDA_API cudaMemset3DAsync_ptsz(abi::PitchedPtr to, int value, abi::Extent e, abi::Stream s) {
  return fill_3d(to, value, e, s);
}

}  // namespace lockstep::cuda
