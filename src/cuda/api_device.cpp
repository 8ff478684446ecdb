// The device: there is one, with the number 0.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "cuda/api.hpp"
#include "cuda/device.hpp"

namespace lockstep::cuda {

namespace {
constexpr const char* kBusId = "0000:01:00.0";

void only_device(int device) { require(device == 0, Status::kErrorInvalidDevice); }

/// enum cudaLimit: stack, printf FIFO, malloc heap, sync depth, pending launches, L2 fetch, persisting L2.
constexpr std::size_t kLimits = 7;
std::size_t limits[kLimits] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
}  // namespace

LOCKSTEP_CUDA_API cudaGetDeviceCount(int* count) {
  return api([&](Runtime&) {
    require(count != nullptr);
    *count = 1;
  });
}
LOCKSTEP_CUDA_API cudaGetDevice(int* device) {
  return api([&](Runtime&) {
    require(device != nullptr);
    *device = 0;
  });
}
LOCKSTEP_CUDA_API cudaSetDevice(int device) {
  return api([&](Runtime&) {
    only_device(device);
    make_context_current();
  });
}
LOCKSTEP_CUDA_API cudaInitDevice(int device, unsigned, unsigned) {
  return api([&](Runtime&) { only_device(device); });
}
LOCKSTEP_CUDA_API cudaChooseDevice(int* device, const abi::DeviceProp* wanted) {
  return api([&](Runtime&) {
    require(device != nullptr && wanted != nullptr);
    *device = 0;
  });
}
LOCKSTEP_CUDA_API cudaSetValidDevices(int* devices, int count) {
  return api([&](Runtime&) {
    require(count == 0 || devices != nullptr);
    for (int i = 0; i < count; ++i) only_device(devices[i]);
  });
}
LOCKSTEP_CUDA_API cudaGetDeviceProperties(abi::DeviceProp* properties, int device) {
  return api([&](Runtime& rt) {
    require(properties != nullptr);
    only_device(device);
    *properties = device_properties(rt.settings.gpu);
  });
}
LOCKSTEP_CUDA_API cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return api([&](Runtime& rt) {
    require(value != nullptr);
    only_device(device);
    const auto found = device_attribute(rt.settings.gpu, attribute);
    require(found.has_value());
    *value = *found;
  });
}
LOCKSTEP_CUDA_API cudaDeviceSynchronize() {
  return api([](Runtime& rt) {
    make_context_current();
    rt.wait_all();
  });
}
LOCKSTEP_CUDA_API cudaDeviceReset() {
  return api([](Runtime& rt) { rt.reset(); });
}
LOCKSTEP_CUDA_API cudaSetDeviceFlags(unsigned flags) {
  return api([&](Runtime&) { require(flags <= 0xff); });
}
LOCKSTEP_CUDA_API cudaGetDeviceFlags(unsigned* flags) {
  return api([&](Runtime&) {
    require(flags != nullptr);
    *flags = 8;  // may map host memory
  });
}
LOCKSTEP_CUDA_API cudaDeviceSetLimit(int limit, std::size_t value) {
  return api([&](Runtime& rt) {
    require(limit >= 0 && static_cast<std::size_t>(limit) < kLimits, Status::kErrorUnsupportedLimit);
    limits[limit] = value;
    rt.set_limit(limit, value);
  });
}
LOCKSTEP_CUDA_API cudaDeviceGetLimit(std::size_t* value, int limit) {
  return api([&](Runtime&) {
    require(value != nullptr);
    require(limit >= 0 && static_cast<std::size_t>(limit) < kLimits, Status::kErrorUnsupportedLimit);
    *value = limits[limit];
  });
}
LOCKSTEP_CUDA_API cudaDeviceGetCacheConfig(int* preference) {
  return api([&](Runtime&) {
    require(preference != nullptr);
    *preference = 0;
  });
}
// The carve-out follows from the kernel's shared memory: the preference is a hint that the model does not
// need.
LOCKSTEP_CUDA_API cudaDeviceSetCacheConfig(int preference) {
  return api([&](Runtime&) { require(preference >= 0 && preference <= 3); });
}
LOCKSTEP_CUDA_API cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  return api([&](Runtime&) {
    require(text != nullptr && bytes > static_cast<int>(std::strlen(kBusId)));
    only_device(device);
    std::memcpy(text, kBusId, std::strlen(kBusId) + 1);
  });
}
LOCKSTEP_CUDA_API cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return api([&](Runtime&) {
    require(device != nullptr && text != nullptr && std::string_view(text) == kBusId);
    *device = 0;
  });
}
LOCKSTEP_CUDA_API cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api([&](Runtime&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
  });
}
LOCKSTEP_CUDA_API cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return api([&](Runtime&) {
    require(can != nullptr);
    only_device(device);
    only_device(peer);
    *can = 0;
  });
}
LOCKSTEP_CUDA_API cudaDeviceEnablePeerAccess(int, unsigned) {
  return api([](Runtime&) { throw ApiError(Status::kErrorInvalidDevice); });
}
LOCKSTEP_CUDA_API cudaDeviceDisablePeerAccess(int) {
  return api([](Runtime&) { throw ApiError(Status::kErrorPeerAccessNotEnabled); });
}
LOCKSTEP_CUDA_API cudaCtxResetPersistingL2Cache() {
  return api([](Runtime&) {});  // access policies have no effect, see cudaStreamSetAttribute
}
LOCKSTEP_CUDA_API cudaDriverGetVersion(int* version) {
  return api([&](Runtime&) {
    require(version != nullptr);
    *version = kRuntimeVersion;
  });
}
LOCKSTEP_CUDA_API cudaRuntimeGetVersion(int* version) {
  return api([&](Runtime&) {
    require(version != nullptr);
    *version = kRuntimeVersion;
  });
}
// Everything is profiled anyway.
LOCKSTEP_CUDA_API cudaProfilerStart() {
  return api([](Runtime&) {});
}
LOCKSTEP_CUDA_API cudaProfilerStop() {
  return api([](Runtime&) {});
}

}  // namespace lockstep::cuda
