// Devices, from number 0 on: all of one kind.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "cuda/api.hpp"
#include "cuda/device.hpp"

namespace lockstep::cuda {

namespace {

std::string bus_id(unsigned device) { return fmt::format("0000:{:02x}:00.0", device + 1); }

/// The device of "domain:bus:device.function", without the domain or without the function; empty where `text`
/// is of another form.
std::optional<unsigned> device_at(const char* text) {
  if (std::string_view(text).find_first_not_of("0123456789abcdefABCDEF:.") != std::string_view::npos)
    return std::nullopt;
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  int end = 0;
  const auto whole = [&](int fields, int expected) { return fields == expected && text[end] == '\0'; };
  if (!whole(std::sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &device, &function, &end), 4)) {
    domain = function = 0;
    if (!whole(std::sscanf(text, "%x:%x:%x%n", &domain, &bus, &device, &end), 3)) {
      domain = 0;
      if (!whole(std::sscanf(text, "%x:%x.%x%n", &bus, &device, &function, &end), 3)) return std::nullopt;
    }
  }
  return domain == 0 && device == 0 && function == 0 ? bus - 1 : ~0U;
}

/// cudaDeviceMapHost, which is set in any case.
constexpr unsigned kMapsHost = 8;

/// What only names the thread's device is possible after a fault, too.
template <class Body>
int any_state(Body&& body) noexcept {
  try {
    Runtime& runtime = Runtime::instance();
    const std::scoped_lock lock(runtime.mutex);
    body(runtime);
    return static_cast<int>(Status::kSuccess);
  } catch (...) {
    return finish_exception();
  }
}

}  // namespace

LOCKSTEP_CUDA_API cudaGetDeviceCount(int* count) {
  return api([&](Runtime& rt) {
    require(count != nullptr);
    *count = rt.devices.count();
  });
}
LOCKSTEP_CUDA_API cudaGetDevice(int* device) {
  return any_state([&](Runtime&) {
    require(device != nullptr);
    *device = static_cast<int>(current_device());
  });
}
LOCKSTEP_CUDA_API cudaSetDevice(int device) {
  return any_state([&](Runtime& rt) { set_current_device(rt.devices.at(device).number()); });
}
LOCKSTEP_CUDA_API cudaInitDevice(int device, unsigned, unsigned) {
  return api([&](Runtime& rt) { (void)rt.devices.at(device); });
}
LOCKSTEP_CUDA_API cudaChooseDevice(int* device, const abi::DeviceProp* wanted) {
  return api([&](Runtime&) {
    require(device != nullptr && wanted != nullptr);
    *device = 0;
  });
}
LOCKSTEP_CUDA_API cudaSetValidDevices(int* devices, int count) {
  return api([&](Runtime& rt) {
    require(count == 0 || devices != nullptr);
    for (int i = 0; i < count; ++i) (void)rt.devices.at(devices[i]);
  });
}
LOCKSTEP_CUDA_API cudaGetDeviceProperties(abi::DeviceProp* properties, int device) {
  return api([&](Runtime& rt) {
    require(properties != nullptr);
    *properties = device_properties(rt.settings.gpu, rt.devices.at(device).number());
    properties->ipcEventSupported = rt.settings.functional;
  });
}
/// cudaDevAttrIpcEventSupport.
constexpr int kIpcEvents = 125;

LOCKSTEP_CUDA_API cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return api([&](Runtime& rt) {
    require(value != nullptr);
    const auto found = device_attribute(rt.settings.gpu, attribute, rt.devices.at(device).number());
    require(found.has_value());
    *value = attribute == kIpcEvents ? rt.settings.functional : *found;
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
  return api([&](Runtime&) {
    constexpr unsigned kSchedule = 7, kKnown = kSchedule | kMapsHost | 0x10 | 0x80;
    require((flags & ~kKnown) == 0 && std::popcount(flags & kSchedule) <= 1);
    primary_context(current_device()).flags = flags;
  });
}
LOCKSTEP_CUDA_API cudaGetDeviceFlags(unsigned* flags) {
  return api([&](Runtime&) {
    require(flags != nullptr);
    *flags = primary_context(current_device()).flags | kMapsHost;
  });
}
LOCKSTEP_CUDA_API cudaDeviceSetLimit(int limit, std::size_t value) {
  return api([&](Runtime& rt) { rt.devices.current().set_limit(limit, value); });
}
LOCKSTEP_CUDA_API cudaDeviceGetLimit(std::size_t* value, int limit) {
  return api([&](Runtime& rt) {
    require(value != nullptr);
    *value = rt.devices.current().limit(limit);
  });
}
LOCKSTEP_CUDA_API cudaDeviceGetCacheConfig(int* preference) {
  return api([&](Runtime& rt) {
    require(preference != nullptr);
    *preference = rt.devices.current().cache_preference;
  });
}
// The carve-out follows from the kernel's shared memory: the preference is a hint that the model does not
// need.
LOCKSTEP_CUDA_API cudaDeviceSetCacheConfig(int preference) {
  return api([&](Runtime& rt) {
    require(preference >= 0 && preference <= 3);
    rt.devices.current().cache_preference = preference;
  });
}
LOCKSTEP_CUDA_API cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  return api([&](Runtime& rt) {
    const std::string id = bus_id(rt.devices.at(device).number());
    require(text != nullptr && bytes > static_cast<int>(id.size()));
    std::memcpy(text, id.c_str(), id.size() + 1);
  });
}
LOCKSTEP_CUDA_API cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return api([&](Runtime& rt) {
    require(device != nullptr && text != nullptr);
    const auto found = device_at(text);
    require(found.has_value());
    *device = static_cast<int>(rt.devices.at(static_cast<int>(*found)).number());
  });
}
LOCKSTEP_CUDA_API cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api([&](Runtime&) {
    if (least != nullptr) *least = kLowestPriority;
    if (greatest != nullptr) *greatest = kHighestPriority;
  });
}
LOCKSTEP_CUDA_API cudaCtxResetPersistingL2Cache() {
  return api([](Runtime& rt) { ++rt.devices.current().l2_resets; });
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
LOCKSTEP_CUDA_API cudaProfilerStart() {
  return api([](Runtime& rt) { rt.set_in_range(true); });
}
LOCKSTEP_CUDA_API cudaProfilerStop() {
  return api([](Runtime& rt) { rt.set_in_range(false); });
}

}  // namespace lockstep::cuda
