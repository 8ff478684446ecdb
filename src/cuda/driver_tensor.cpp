// Tensor maps of the driver API. Numbers of types, swizzles and interleaves are those of cuda.h.
#include <fmt/format.h>

#include <algorithm>

#include "cuda/driver.hpp"
#include "exec/tensor_map.hpp"

namespace lockstep::cuda {

namespace {

constexpr unsigned kMaxSwizzle = 3;  // CU_TENSOR_MAP_SWIZZLE_128B

void refuse(Runtime& rt, const char* what) {
  rt.warnings.once(fmt::format("a tensor map with {} is not supported", what));
  throw ApiError(Status::kErrorNotSupported);
}

/// What both kinds of tensor maps say.
struct Description {
  void* object;
  unsigned type, rank;
  void* address;
  const std::uint64_t *dims, *strides;
  const std::uint32_t* steps;
  unsigned interleave, swizzle, fill;
};

exec::TensorMap map_of(Runtime& rt, const Description& d) {
  require(d.object != nullptr && d.dims != nullptr && d.steps != nullptr);
  require(reinterpret_cast<Address>(d.object) % exec::kTensorMapAlign == 0);
  require(d.rank > 0 && d.rank <= exec::kMaxTensorRank && (d.rank == 1 || d.strides != nullptr));
  const auto element = exec::tensor_type(d.type);
  if (!element) refuse(rt, "a packed type");
  if (d.interleave != 0) refuse(rt, "an interleaved layout");
  if (d.fill != 0) refuse(rt, "filling with NaN");
  if (d.swizzle > kMaxSwizzle) refuse(rt, "a swizzle of later GPUs");
  exec::TensorMap map;
  map.type = *element;
  map.rank = d.rank;
  map.swizzle_bits = d.swizzle;
  map.address = reinterpret_cast<Address>(d.address);
  map.stride[0] = map.element_bytes();
  for (unsigned i = 0; i < d.rank; ++i) {
    map.dim[i] = d.dims[i];
    if (i > 0) map.stride[i] = d.strides[i - 1];
    if (i > 0) map.step[i] = d.steps[i];  // that of dimension 0 is ignored
  }
  return map;
}

}  // namespace

LOCKSTEP_CUDA_API cuTensorMapEncodeTiled(void* object, unsigned type, unsigned rank, void* address,
                                         const std::uint64_t* dims, const std::uint64_t* strides,
                                         const std::uint32_t* box, const std::uint32_t* steps,
                                         unsigned interleave, unsigned swizzle, unsigned, unsigned fill) {
  return driver_api([&](Runtime& rt) {
    auto map = map_of(rt, {object, type, rank, address, dims, strides, steps, interleave, swizzle, fill});
    require(box != nullptr);
    std::copy_n(box, rank, map.box.begin());
    require(map.valid());
    map.pack(static_cast<std::byte*>(object));
  });
}

LOCKSTEP_CUDA_API cuTensorMapEncodeIm2col(void* object, unsigned type, unsigned rank, void* address,
                                          const std::uint64_t* dims, const std::uint64_t* strides,
                                          const std::int32_t* lower, const std::int32_t* upper,
                                          unsigned channels, unsigned pixels, const std::uint32_t* steps,
                                          unsigned interleave, unsigned swizzle, unsigned, unsigned fill) {
  return driver_api([&](Runtime& rt) {
    auto map = map_of(rt, {object, type, rank, address, dims, strides, steps, interleave, swizzle, fill});
    require(lower != nullptr && upper != nullptr && rank >= 3 && pixels != 0);
    map.box[0] = channels;
    map.pixels = pixels;
    std::copy_n(lower, rank - 2, map.lower.begin() + 1);
    std::copy_n(upper, rank - 2, map.upper.begin() + 1);
    require(map.valid());
    map.pack(static_cast<std::byte*>(object));
  });
}

LOCKSTEP_CUDA_API cuTensorMapReplaceAddress(void* object, void* address) {
  return driver_api([&](Runtime&) {
    require(object != nullptr && reinterpret_cast<Address>(address) % 16 == 0);
    require(exec::replace_tensor_field(static_cast<std::byte*>(object), exec::TensorField::kAddress, 0,
                                       reinterpret_cast<Address>(address)));
  });
}

}  // namespace lockstep::cuda
