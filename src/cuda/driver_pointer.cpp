// What a pointer is, of the driver API.
#include <cstring>
#include <string>

#include "cuda/driver.hpp"

namespace lockstep::cuda {

namespace {

/// CUpointer_attribute.
enum class PointerAttribute {
  kContext = 1,
  kMemoryType,
  kDevicePointer,
  kHostPointer,
  kSyncMemops = 6,
  kBufferId,
  kIsManaged,
  kDevice,
  kIpcCapable,
  kRangeStart,
  kRangeSize,
  kMapped,
  kHandleTypes,
  kRdmaCapable,
  kAccess,
  kPool
};

/// An attribute's value and its size in bytes; a size of 0: the pointer does not have it.
struct AttributeValue {
  std::uint64_t value = 0;
  std::size_t bytes = 0;
};

std::size_t bytes_of(int attribute) {
  using enum PointerAttribute;
  switch (PointerAttribute{attribute}) {
    case kContext:
    case kDevicePointer:
    case kHostPointer:
    case kBufferId:
    case kRangeStart:
    case kRangeSize:
    case kHandleTypes:
    case kPool:
      return sizeof(std::uint64_t);
    case kMemoryType:
    case kSyncMemops:
    case kIsManaged:
    case kDevice:
    case kIpcCapable:
    case kMapped:
    case kRdmaCapable:
    case kAccess:
      return sizeof(int);
    default:
      throw ApiError(Status::kErrorNotSupported, "attribute " + std::to_string(attribute));
  }
}

AttributeValue attribute_of(Runtime& rt, int attribute, DevicePointer address) {
  using enum PointerAttribute;
  using exec::MemoryKind;
  constexpr std::uint64_t kReadWrite = 3;
  const std::size_t bytes = bytes_of(attribute);
  auto found = rt.memory.find(address);
  if (!found && rt.memory.accessible(address, 1)) found = exec::Allocation{address, 1, MemoryKind::kHost};
  if (PointerAttribute{attribute} == kMapped) return {found.has_value() ? 1U : 0U, bytes};
  if (!found) return {};
  switch (PointerAttribute{attribute}) {
    case kContext:
      return {address_of(found->device == current_device() ? &current_context()
                                                           : &primary_context(found->device)),
              bytes};
    case kMemoryType:
      return {found->kind == MemoryKind::kHost ? MemoryType::kHost : MemoryType::kDevice, bytes};
    case kDevicePointer:
      return {address, bytes};
    case kHostPointer:
      return found->kind == MemoryKind::kDevice ? AttributeValue{} : AttributeValue{address, bytes};
    case kBufferId:
    case kRangeStart:
      return {found->begin, bytes};
    case kIsManaged:
      return {found->kind == MemoryKind::kManaged ? 1U : 0U, bytes};
    case kRangeSize:
      return {found->bytes, bytes};
    case kAccess:
      return {kReadWrite, bytes};
    case kDevice:
      return {found->device, bytes};
    case kPool:
      return {address_of(rt.pools.owner(found->begin)), bytes};
    default:
      return {0, bytes};  // what is not there
  }
}

}  // namespace

LOCKSTEP_CUDA_API cuPointerGetAttribute(void* data, int attribute, DevicePointer pointer) {
  return driver_api([&](Runtime& rt) {
    require(data != nullptr);
    const AttributeValue found = attribute_of(rt, attribute, pointer);
    require(found.bytes > 0);
    std::memcpy(data, &found.value, found.bytes);
  });
}
/// What the pointer does not have is null.
LOCKSTEP_CUDA_API cuPointerGetAttributes(unsigned count, const int* attributes, void** data,
                                         DevicePointer pointer) {
  return driver_api([&](Runtime& rt) {
    require(count > 0 && attributes != nullptr && data != nullptr);
    for (unsigned i = 0; i < count; ++i) {
      const AttributeValue found = attribute_of(rt, attributes[i], pointer);
      std::memcpy(data[i], &found.value, bytes_of(attributes[i]));
    }
  });
}

}  // namespace lockstep::cuda
