// Tensor maps of the driver API. Numbers of types, swizzles and interleaves are those of cuda.h.
#include <fmt/format.h>

#include "cuda/driver.hpp"
#include "exec/tensor_map.hpp"

namespace lockstep::cuda {

namespace {

constexpr unsigned kMostSwizzle = 3;  // CU_TENSOR_MAP_SWIZZLE_128B

void refuse(Runtime& rt, const char* what) {
  rt.warn_once(fmt::format("cuTensorMapEncodeTiled: {} is not supported", what));
  throw ApiError(Status::kErrorNotSupported);
}

}  // namespace

LOCKSTEP_CUDA_API cuTensorMapEncodeTiled(void* object, unsigned type, unsigned rank, void* address,
                                         const std::uint64_t* dims, const std::uint64_t* strides,
                                         const std::uint32_t* box, const std::uint32_t* steps,
                                         unsigned interleave, unsigned swizzle, unsigned, unsigned fill) {
  return driver_api([&](Runtime& rt) {
    require(object != nullptr && dims != nullptr && box != nullptr && steps != nullptr);
    require(reinterpret_cast<Address>(object) % exec::kTensorMapAlign == 0);
    require(rank > 0 && rank <= exec::kMaxTensorRank && (rank == 1 || strides != nullptr));
    const auto element = exec::tensor_type(type);
    if (!element) refuse(rt, "a packed type");
    if (interleave != 0) refuse(rt, "an interleaved layout");
    if (fill != 0) refuse(rt, "filling with NaN");
    if (swizzle > kMostSwizzle) refuse(rt, "a swizzle of later GPUs");
    exec::TensorMap map;
    map.type = *element;
    map.rank = rank;
    map.swizzle_bits = swizzle;
    map.address = reinterpret_cast<Address>(address);
    map.stride[0] = map.element_bytes();
    for (unsigned d = 0; d < rank; ++d) {
      map.dim[d] = dims[d];
      map.box[d] = box[d];
      if (d > 0) map.stride[d] = strides[d - 1];
      if (d > 0) map.step[d] = steps[d];  // that of dimension 0 is ignored
    }
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
