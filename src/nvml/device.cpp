// Devices: how many, which is which, what they are.
#include "cuda/device.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "nvml/library.hpp"

namespace lockstep::nvml {

namespace {

/// nvmlClockType_t.
enum Clock : int { kGraphics, kSm, kMemory, kVideo };

Return count(unsigned* devices) {
  return api([&](Library& library) {
    if (devices == nullptr) return Return::kInvalidArgument;
    *devices = library.machine().devices;
    return Return::kSuccess;
  });
}

Return by_index(unsigned index, Device** handle) {
  return api([&](Library& library) {
    if (handle == nullptr || library.device(index) == nullptr) return Return::kInvalidArgument;
    *handle = library.device(index);
    return Return::kSuccess;
  });
}

/// `is_it(number)`.
template <class IsIt>
Return find(Device** handle, IsIt is_it) {
  return api([&](Library& library) {
    if (handle == nullptr) return Return::kInvalidArgument;
    for (unsigned d = 0; d < library.machine().devices; ++d) {
      if (!is_it(library, d)) continue;
      *handle = library.device(d);
      return Return::kSuccess;
    }
    return Return::kNotFound;
  });
}

/// With a domain of 4 or 8 digits, in either case.
Return by_bus(const char* id, Device** handle) {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  if (id == nullptr) return Return::kInvalidArgument;
  const int parts = std::sscanf(id, "%x:%x:%x.%x", &domain, &bus, &device, &function);
  if (parts < 3) return Return::kInvalidArgument;
  return find(handle, [&](Library&, unsigned d) {
    return domain == 0 && bus == bus_of(d) && device == 0 && function == 0;
  });
}

std::string uuid_of(const Library& library, unsigned number) {
  const cuda::abi::DeviceProp properties = cuda::device_properties(library.machine().gpu, number);
  std::string text = "GPU-";
  for (unsigned i = 0; i < sizeof properties.uuid; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(properties.uuid[i]));
  }
  return text;
}

Return clock_of(const Device* handle, int type, unsigned* mhz) {
  return device_api(handle, [&](Library& library, unsigned) {
    if (mhz == nullptr) return Return::kInvalidArgument;
    if (type != kGraphics && type != kSm && type != kMemory) return Return::kNotSupported;
    *mhz = clock_mhz(library.machine().gpu, type == kMemory);
    return Return::kSuccess;
  });
}

template <class Info>
Return pci(const Device* handle, Info* info) {
  return device_api(handle, [&](Library&, unsigned number) {
    if (info == nullptr) return Return::kInvalidArgument;
    describe(number, *info);
    return Return::kSuccess;
  });
}

}  // namespace

LOCKSTEP_NVML_API nvmlDeviceGetCount(unsigned* devices) { return count(devices); }
LOCKSTEP_NVML_API nvmlDeviceGetCount_v2(unsigned* devices) { return count(devices); }
LOCKSTEP_NVML_API nvmlDeviceGetHandleByIndex(unsigned index, Device** handle) {
  return by_index(index, handle);
}
LOCKSTEP_NVML_API nvmlDeviceGetHandleByIndex_v2(unsigned index, Device** handle) {
  return by_index(index, handle);
}
LOCKSTEP_NVML_API nvmlDeviceGetHandleByPciBusId(const char* id, Device** handle) {
  return by_bus(id, handle);
}
LOCKSTEP_NVML_API nvmlDeviceGetHandleByPciBusId_v2(const char* id, Device** handle) {
  return by_bus(id, handle);
}
LOCKSTEP_NVML_API nvmlDeviceGetHandleByUUID(const char* uuid, Device** handle) {
  if (uuid == nullptr) return Return::kInvalidArgument;
  return find(handle, [&](Library& library, unsigned d) { return uuid_of(library, d) == uuid; });
}
LOCKSTEP_NVML_API nvmlDeviceGetIndex(const Device* handle, unsigned* index) {
  return device_api(handle, [&](Library&, unsigned number) {
    if (index == nullptr) return Return::kInvalidArgument;
    *index = number;
    return Return::kSuccess;
  });
}
LOCKSTEP_NVML_API nvmlDeviceGetName(const Device* handle, char* name, unsigned bytes) {
  return device_api(handle, [&](Library& library, unsigned number) {
    return give(cuda::device_properties(library.machine().gpu, number).name, name, bytes);
  });
}
LOCKSTEP_NVML_API nvmlDeviceGetUUID(const Device* handle, char* uuid, unsigned bytes) {
  return device_api(
      handle, [&](Library& library, unsigned number) { return give(uuid_of(library, number), uuid, bytes); });
}
LOCKSTEP_NVML_API nvmlDeviceGetPciInfo(const Device* handle, abi::PciInfoLegacy* info) {
  return pci(handle, info);
}
LOCKSTEP_NVML_API nvmlDeviceGetPciInfo_v2(const Device* handle, abi::PciInfoLegacy* info) {
  return pci(handle, info);
}
LOCKSTEP_NVML_API nvmlDeviceGetPciInfo_v3(const Device* handle, abi::PciInfo* info) {
  return pci(handle, info);
}
LOCKSTEP_NVML_API nvmlDeviceGetCudaComputeCapability(const Device* handle, int* major, int* minor) {
  return device_api(handle, [&](Library& library, unsigned) {
    if (major == nullptr || minor == nullptr) return Return::kInvalidArgument;
    const auto arch = static_cast<int>(library.machine().gpu.gpu.arch);
    *major = arch / 10;
    *minor = arch % 10;
    return Return::kSuccess;
  });
}
LOCKSTEP_NVML_API nvmlDeviceGetClockInfo(const Device* handle, int type, unsigned* mhz) {
  return clock_of(handle, type, mhz);
}
LOCKSTEP_NVML_API nvmlDeviceGetMaxClockInfo(const Device* handle, int type, unsigned* mhz) {
  return clock_of(handle, type, mhz);
}

}  // namespace lockstep::nvml
