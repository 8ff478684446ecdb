// Memory: allocation, page-locked and managed memory, pools, what a pointer is.
#include <algorithm>
#include <cstring>

#include "cuda/api.hpp"

namespace lockstep::cuda {

using exec::MemoryKind;

namespace {

constexpr std::size_t kPitchUnit = 512;

void allocate(Runtime& rt, void** pointer, std::size_t bytes, MemoryKind kind) {
  make_context_current();
  require(pointer != nullptr);
  *pointer = nullptr;
  if (bytes == 0) return;
  *pointer = reinterpret_cast<void*>(rt.allocations.allocate(bytes, kind));
}

void allocate_pinned(Runtime& rt, void** pointer, std::size_t bytes, unsigned flags) {
  allocate(rt, pointer, bytes, MemoryKind::kHost);
  if (*pointer != nullptr) rt.pinned.add(reinterpret_cast<Address>(*pointer), bytes, flags);
}

void release(Runtime& rt, void* pointer, std::initializer_list<MemoryKind> kinds) {
  make_context_current();
  if (pointer == nullptr) return;
  const auto address = reinterpret_cast<Address>(pointer);
  if (rt.devices.end_graph_use(address)) return;
  const auto found = rt.memory.find(address);
  require(found && found->begin == address && std::ranges::find(kinds, found->kind) != kinds.end());
  if (found->kind == MemoryKind::kDevice)
    rt.held.wait_device(found->device);  // as every work there may name it
  else
    rt.held.wait_all();
  require(rt.allocations.release(address));
  rt.pinned.remove(address);
}

}  // namespace

LOCKSTEP_CUDA_API cudaMalloc(void** pointer, std::size_t bytes) {
  return api([&](Runtime& rt) { allocate(rt, pointer, bytes, MemoryKind::kDevice); });
}

LOCKSTEP_CUDA_API cudaFree(void* pointer) {
  return api([&](Runtime& rt) { release(rt, pointer, {MemoryKind::kDevice, MemoryKind::kManaged}); });
}

LOCKSTEP_CUDA_API cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return api([&](Runtime& rt) {
    require(bytes > 0 && (flags == 1 || flags == 2));  // attach to all streams, or to the host
    allocate(rt, pointer, bytes, MemoryKind::kManaged);
    rt.advice.forget(reinterpret_cast<Address>(*pointer), bytes);
  });
}

LOCKSTEP_CUDA_API cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return api([&](Runtime& rt) {
    require(flags <= 7);
    allocate_pinned(rt, pointer, bytes, flags);
  });
}

LOCKSTEP_CUDA_API cudaMallocHost(void** pointer, std::size_t bytes) {
  return api([&](Runtime& rt) { allocate_pinned(rt, pointer, bytes, 0); });
}

LOCKSTEP_CUDA_API cudaFreeHost(void* pointer) {
  return api([&](Runtime& rt) { release(rt, pointer, {MemoryKind::kHost}); });
}

LOCKSTEP_CUDA_API cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return api([&](Runtime& rt) {
    constexpr unsigned kAll = 15, kReadOnly = 8;  // which needs cudaDevAttrHostRegisterReadOnlySupported
    require(pointer != nullptr && bytes > 0 && flags <= kAll);
    require((flags & kReadOnly) == 0, Status::kErrorNotSupported);
    require(rt.memory.add_host_range(reinterpret_cast<Address>(pointer), bytes),
            Status::kErrorHostMemoryAlreadyRegistered);
    rt.pinned.add(reinterpret_cast<Address>(pointer), bytes, flags);
  });
}

LOCKSTEP_CUDA_API cudaHostUnregister(void* pointer) {
  return api([&](Runtime& rt) {
    rt.held.wait_all();
    require(rt.memory.remove_host_range(reinterpret_cast<Address>(pointer)),
            Status::kErrorHostMemoryNotRegistered);
    rt.pinned.remove(reinterpret_cast<Address>(pointer));
  });
}

LOCKSTEP_CUDA_API cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return api([&](Runtime& rt) {
    require(device != nullptr && flags == 0);
    require(rt.memory.accessible(reinterpret_cast<Address>(host), 1));
    *device = host;  // one address space
  });
}

LOCKSTEP_CUDA_API cudaHostGetFlags(unsigned* flags, void* host) {
  return api([&](Runtime& rt) {
    const auto found = rt.pinned.find(reinterpret_cast<Address>(host));
    require(flags != nullptr && found.has_value());
    *flags = *found;
  });
}

LOCKSTEP_CUDA_API cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  return api([&](Runtime& rt) {
    require(pitch != nullptr);
    require(width <= SIZE_MAX - kPitchUnit, Status::kErrorMemoryAllocation);
    *pitch = (width + kPitchUnit - 1) / kPitchUnit * kPitchUnit;
    require(height == 0 || *pitch <= SIZE_MAX / height, Status::kErrorMemoryAllocation);
    allocate(rt, pointer, *pitch * height, MemoryKind::kDevice);
  });
}

LOCKSTEP_CUDA_API cudaMalloc3D(abi::PitchedPtr* result, abi::Extent extent) {
  return api([&](Runtime& rt) {
    require(result != nullptr);
    require(extent.width <= SIZE_MAX - kPitchUnit, Status::kErrorMemoryAllocation);
    require(extent.depth == 0 || extent.height <= SIZE_MAX / extent.depth, Status::kErrorMemoryAllocation);
    const std::size_t pitch = (extent.width + kPitchUnit - 1) / kPitchUnit * kPitchUnit;
    const std::size_t rows = extent.height * extent.depth;
    require(rows == 0 || pitch <= SIZE_MAX / rows, Status::kErrorMemoryAllocation);
    *result = {nullptr, pitch, extent.width, extent.height};
    allocate(rt, &result->ptr, pitch * rows, MemoryKind::kDevice);
  });
}

LOCKSTEP_CUDA_API cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
  return api([&](Runtime& rt) {
    require(free_bytes != nullptr && total != nullptr);
    *total = rt.memory.capacity();
    *free_bytes =
        *total - std::min<std::size_t>(*total, rt.memory.mapped_bytes(MemoryKind::kDevice, current_device()));
  });
}

LOCKSTEP_CUDA_API cudaPointerGetAttributes(abi::PointerAttributes* attributes, const void* pointer) {
  return api([&](Runtime& rt) {
    require(attributes != nullptr);
    enum { kUnregistered, kHost, kDevice, kManaged };
    const auto address = reinterpret_cast<Address>(pointer);
    auto* plain = const_cast<void*>(pointer);
    *attributes = {};
    const auto found = rt.memory.find(address);
    if (!found) {
      const bool registered = rt.memory.accessible(address, 1);
      attributes->type = registered ? kHost : kUnregistered;
      attributes->device = registered ? 0 : -2;
      attributes->devicePointer = registered ? plain : nullptr;
      attributes->hostPointer = plain;
      return;
    }
    attributes->device = static_cast<int>(found->device);
    attributes->devicePointer = plain;
    attributes->hostPointer = found->kind == MemoryKind::kDevice ? nullptr : plain;
    attributes->type = found->kind == MemoryKind::kDevice    ? kDevice
                       : found->kind == MemoryKind::kManaged ? kManaged
                                                             : kHost;
  });
}

}  // namespace lockstep::cuda
