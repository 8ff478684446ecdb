// Virtual memory management: see virtual_memory.hpp.
#include "cuda/driver.hpp"

namespace lockstep::cuda {

namespace {

/// CUmemAccessDesc.
struct AccessDescription {
  int location_type, location;
  int flags;  // 0 none, 1 read, 3 read and write
};
static_assert(sizeof(AccessDescription) == 12);
constexpr int kDeviceLocation = 1, kReadAccess = 1, kReadWriteAccess = 3;

unsigned device_of(Runtime& rt, int location_type, int location) {
  require(location_type == kDeviceLocation, Status::kErrorNotSupported);
  return rt.devices.at(location).number();
}

}  // namespace

LOCKSTEP_CUDA_API cuMemGetAllocationGranularity(std::size_t* bytes, const AllocationProperties* properties,
                                                int option) {
  return driver_api([&](Runtime&) {
    require(bytes != nullptr && properties != nullptr && (option == 0 || option == 1));
    *bytes = VirtualMemory::kGranularity;
  });
}

LOCKSTEP_CUDA_API cuMemAddressReserve(DevicePointer* p, std::size_t bytes, std::size_t alignment,
                                      DevicePointer, unsigned long long flags) {
  return driver_api([&](Runtime& rt) {
    require(p != nullptr && flags == 0);
    *p = rt.virtual_memory.reserve(bytes, alignment);  // the wanted address is a wish
  });
}
LOCKSTEP_CUDA_API cuMemAddressFree(DevicePointer p, std::size_t bytes) {
  return driver_api([&](Runtime& rt) {
    require(!rt.multicast.is_mapped(p, bytes));
    rt.virtual_memory.free(p, bytes);
  });
}

LOCKSTEP_CUDA_API cuMemCreate(VirtualMemory::Handle* handle, std::size_t bytes,
                              const AllocationProperties* properties, unsigned long long flags) {
  return driver_api([&](Runtime& rt) {
    require(handle != nullptr && properties != nullptr && flags == 0);
    if (properties->handle_types != 0) require_functional(rt);
    *handle = rt.virtual_memory.create(bytes, *properties);
  });
}
LOCKSTEP_CUDA_API cuMemExportToShareableHandle(void* shared, VirtualMemory::Handle handle, int type,
                                               unsigned long long flags) {
  return driver_api([&](Runtime& rt) {
    require(shared != nullptr && flags == 0);
    require(type == kFileHandles, Status::kErrorNotSupported);
    *static_cast<int*>(shared) = rt.virtual_memory.share(handle);
  });
}
LOCKSTEP_CUDA_API cuMemImportFromShareableHandle(VirtualMemory::Handle* handle, void* shared, int type) {
  return driver_api([&](Runtime& rt) {
    require(handle != nullptr);
    require(type == kFileHandles, Status::kErrorNotSupported);
    require_functional(rt);
    *handle = rt.virtual_memory.import(static_cast<int>(reinterpret_cast<std::intptr_t>(shared)));
    rt.processes.note_shared();
  });
}

LOCKSTEP_CUDA_API cuMemRelease(VirtualMemory::Handle handle) {
  return driver_api([&](Runtime& rt) {
    rt.multicast.has(handle) ? rt.multicast.release(handle) : rt.virtual_memory.release(handle);
  });
}
LOCKSTEP_CUDA_API cuMemRetainAllocationHandle(VirtualMemory::Handle* handle, void* address) {
  return driver_api([&](Runtime& rt) {
    require(handle != nullptr);
    const auto at = reinterpret_cast<Address>(address);
    *handle = rt.multicast.is_mapped(at) ? rt.multicast.retain(at) : rt.virtual_memory.retain(at);
  });
}
LOCKSTEP_CUDA_API cuMemGetAllocationPropertiesFromHandle(AllocationProperties* properties,
                                                         VirtualMemory::Handle handle) {
  return driver_api([&](Runtime& rt) {
    require(properties != nullptr);
    *properties = rt.virtual_memory.properties(handle);
  });
}

LOCKSTEP_CUDA_API cuMemMap(DevicePointer p, std::size_t bytes, std::size_t offset,
                           VirtualMemory::Handle handle, unsigned long long flags) {
  return driver_api([&](Runtime& rt) {
    require(flags == 0);
    if (rt.multicast.has(handle)) {
      wait_for_team(rt, handle);
      return rt.multicast.map(p, bytes, offset, handle);
    }
    require(!rt.multicast.is_mapped(p, bytes));
    rt.virtual_memory.map(p, bytes, offset, handle);
    rt.memory_log.place(rt.virtual_memory.owner(p), p, bytes);
  });
}
LOCKSTEP_CUDA_API cuMemUnmap(DevicePointer p, std::size_t bytes) {
  return driver_api([&](Runtime& rt) {
    rt.held.wait_all();  // the device's, as every work may name it
    rt.multicast.is_mapped(p) ? rt.multicast.unmap(p, bytes) : rt.virtual_memory.unmap(p, bytes);
  });
}
LOCKSTEP_CUDA_API cuMemSetAccess(DevicePointer p, std::size_t bytes, const AccessDescription* descriptions,
                                 std::size_t count) {
  return driver_api([&](Runtime& rt) {
    require(descriptions != nullptr && count > 0);
    for (std::size_t i = 0; i < count; ++i) {
      const AccessDescription& d = descriptions[i];
      const unsigned device = device_of(rt, d.location_type, d.location);
      require(d.flags == 0 || d.flags == kReadAccess || d.flags == kReadWriteAccess);
      rt.held.wait_device(device);
      rt.multicast.is_mapped(p) ? rt.multicast.set_access(p, bytes, d.flags != 0, device)
                                : rt.virtual_memory.set_access(p, bytes, d.flags != 0, device);
    }
  });
}
LOCKSTEP_CUDA_API cuMemGetAccess(unsigned long long* flags, const int* location, DevicePointer p) {
  return driver_api([&](Runtime& rt) {
    require(flags != nullptr && location != nullptr);
    const unsigned device = device_of(rt, location[0], location[1]);
    const bool open = rt.multicast.is_mapped(p) ? rt.multicast.accessible(p, device)
                                                : rt.virtual_memory.accessible(p, device);
    *flags = open ? kReadWriteAccess : 0;
  });
}

}  // namespace lockstep::cuda
