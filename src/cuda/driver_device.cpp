// Devices, contexts, errors.
#include <algorithm>
#include <cstring>
#include <vector>

#include "cuda/device.hpp"
#include "cuda/driver.hpp"

namespace lockstep::cuda {

namespace {

/// CUdevice_attribute: what only the driver tells. Handles for other processes, compression: none of
/// them is there.
constexpr int kTextureGather = 44, kVirtualMemory = 102, kTensorMaps = 127, kMulticast = 132,
              kFileDescriptors = 103;
constexpr int kNotThere[] = {96, 104, 105, 107, 110, 124, 128, 129, 136, 137, 141, 145, 146};
/// Operations of streams on values in memory: the first forms, with 64 bits, NOR; the present ones.
constexpr int kValueOperations[] = {92, 93, 94, 122, 123};
constexpr unsigned kTensorMapArch = 90;

int create(void** context, unsigned flags, int device) {
  return driver_api([&](Runtime& rt) {
    require(context != nullptr);
    require_context_flags(flags);
    context_stack().push_back(&create_context(rt.devices.at(device).number(), flags));
    *context = context_stack().back();
  });
}

struct ResultName {
  int number;
  const char* name;
};
constexpr ResultName kResultNames[] = {
#define X(number, name) {number, #name},
#include "cuda/driver_results.inc"
#undef X
};

/// Two of the driver's results are not the runtime's. Nothing here gives them; the texts are cuda.h's in
/// short.
const char* result_text(const ResultName& row) {
  constexpr int kContextAlreadyCurrent = 202, kKeyRotation = 916;
  if (row.number == kContextAlreadyCurrent) return "context already current";
  if (row.number == kKeyRotation) return "an error happened during the key rotation sequence";
  return status_text(static_cast<Status>(row.number));
}

int name_of(int result, const char** text, const auto& words) {
  if (text == nullptr) return static_cast<int>(Status::kErrorInvalidValue);
  for (const ResultName& row : kResultNames)
    if (row.number == result) {
      *text = words(row);
      return 0;
    }
  *text = nullptr;
  return static_cast<int>(Status::kErrorInvalidValue);
}

}  // namespace

// Where the driver counts otherwise (cuda.h): a launch's geometry is a value, a missing name is not found, a
// function that is none is a bad handle.
int driver_result(int status) {
  constexpr int kInvalidValue = 1, kInvalidHandle = 400, kNotFound = 500;
  switch (static_cast<Status>(status)) {
    case Status::kErrorInvalidConfiguration:
      return kInvalidValue;
    case Status::kErrorInvalidSymbol:
      return kNotFound;
    case Status::kErrorInvalidDeviceFunction:
      return kInvalidHandle;
    default:
      return status;
  }
}

LOCKSTEP_CUDA_API cuInit(unsigned flags) {
  return driver_api([&](Runtime&) { require(flags == 0); });
}
LOCKSTEP_CUDA_API cuDriverGetVersion(int* version) {
  return driver([&] { return cudaDriverGetVersion(version); });
}
LOCKSTEP_CUDA_API cuGetErrorName(int result, const char** text) {
  return name_of(result, text, [](const ResultName& row) { return row.name; });
}
LOCKSTEP_CUDA_API cuGetErrorString(int result, const char** text) {
  return name_of(result, text, result_text);
}

LOCKSTEP_CUDA_API cuDeviceGetCount(int* count) {
  return driver([&] { return cudaGetDeviceCount(count); });
}
LOCKSTEP_CUDA_API cuDeviceGet(int* device, int ordinal) {
  return driver_api([&](Runtime& rt) {
    require(device != nullptr);
    *device = static_cast<int>(rt.devices.at(ordinal).number());
  });
}
LOCKSTEP_CUDA_API cuDeviceGetName(char* name, int bytes, int device) {
  return driver_api([&](Runtime& rt) {
    require(name != nullptr && bytes > 0);
    (void)rt.devices.at(device);
    std::strncpy(name, device_properties(rt.settings.gpu).name, static_cast<std::size_t>(bytes) - 1);
    name[bytes - 1] = '\0';
  });
}
LOCKSTEP_CUDA_API cuDeviceGetUuid_v2(char* uuid, int device) {
  return driver_api([&](Runtime& rt) {
    require(uuid != nullptr);
    const auto properties = device_properties(rt.settings.gpu, rt.devices.at(device).number());
    std::memcpy(uuid, properties.uuid, sizeof properties.uuid);
  });
}
LOCKSTEP_CUDA_API cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return driver_api([&](Runtime& rt) {
    require(bytes != nullptr);
    (void)rt.devices.at(device);
    *bytes = rt.memory.capacity();
  });
}
LOCKSTEP_CUDA_API cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (attribute == kMulticast)
    return driver_api([&](Runtime& rt) {
      require(value != nullptr);
      *value = static_cast<int>(rt.settings.multicast >> rt.devices.at(device).number() & 1);
    });
  if (attribute == kFileDescriptors)
    return driver_api([&](Runtime& rt) {
      require(value != nullptr);
      (void)rt.devices.at(device);
      *value = rt.settings.functional;
    });
  const bool there = attribute == kTextureGather || attribute == kVirtualMemory || attribute == kTensorMaps ||
                     std::ranges::find(kValueOperations, attribute) != std::end(kValueOperations);
  if (there || std::ranges::find(kNotThere, attribute) != std::end(kNotThere))
    return driver_api([&](Runtime& rt) {
      require(value != nullptr);
      (void)rt.devices.at(device);
      *value = there && (attribute != kTensorMaps || rt.settings.gpu.gpu.arch >= kTensorMapArch);
    });
  return driver([&] { return cudaDeviceGetAttribute(value, attribute, device); });
}
LOCKSTEP_CUDA_API cuDeviceComputeCapability(int* major, int* minor, int device) {
  return driver_api([&](Runtime& rt) {
    require(major != nullptr && minor != nullptr);
    (void)rt.devices.at(device);
    *major = static_cast<int>(rt.settings.gpu.gpu.arch / 10);
    *minor = static_cast<int>(rt.settings.gpu.gpu.arch % 10);
  });
}
LOCKSTEP_CUDA_API cuDeviceGetPCIBusId(char* text, int bytes, int device) {
  return driver([&] { return cudaDeviceGetPCIBusId(text, bytes, device); });
}

LOCKSTEP_CUDA_API cuDevicePrimaryCtxRetain(void** context, int device) {
  return driver_api([&](Runtime& rt) {
    require(context != nullptr);
    Context& primary = primary_context(rt.devices.at(device).number());
    ++primary.users;
    *context = &primary;
  });
}
LOCKSTEP_CUDA_API cuDevicePrimaryCtxRelease_v2(int device) {
  return driver_api([&](Runtime& rt) {
    Context& primary = primary_context(rt.devices.at(device).number());
    if (primary.users > 0) --primary.users;
  });
}
LOCKSTEP_CUDA_API cuDevicePrimaryCtxReset_v2(int device) {
  return driver_api([&](Runtime& rt) {
    const OnDevice on(rt.devices.at(device).number());
    rt.reset();
  });
}
LOCKSTEP_CUDA_API cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  return driver_api([&](Runtime& rt) {
    Context& primary = primary_context(rt.devices.at(device).number());
    require_context_flags(flags);
    primary.flags = flags;
  });
}
LOCKSTEP_CUDA_API cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return driver_api([&](Runtime& rt) {
    require(flags != nullptr && active != nullptr);
    const Context& primary = primary_context(rt.devices.at(device).number());
    *flags = primary.flags;
    *active = primary.users > 0 || primary.used ? 1 : 0;
  });
}

LOCKSTEP_CUDA_API cuCtxCreate_v2(void** context, unsigned flags, int device) {
  return create(context, flags, device);
}
LOCKSTEP_CUDA_API cuCtxCreate_v4(void** context, const void*, unsigned flags, int device) {
  return create(context, flags, device);
}
LOCKSTEP_CUDA_API cuCtxDestroy_v2(void* context) {
  return driver_api([&](Runtime&) { require(destroy_context(context), Status::kErrorDeviceUninitialized); });
}
LOCKSTEP_CUDA_API cuCtxPushCurrent_v2(void* context) {
  return driver_api([&](Runtime&) {
    require(context != nullptr);
    context_stack().push_back(static_cast<Context*>(context));
  });
}
LOCKSTEP_CUDA_API cuCtxPopCurrent_v2(void** context) {
  return driver_api([&](Runtime&) {
    require(!context_stack().empty(), Status::kErrorDeviceUninitialized);
    if (context != nullptr) *context = context_stack().back();
    context_stack().pop_back();
  });
}
LOCKSTEP_CUDA_API cuCtxSetCurrent(void* context) {
  return driver_api([&](Runtime&) {
    if (!context_stack().empty()) context_stack().pop_back();
    if (context != nullptr) context_stack().push_back(static_cast<Context*>(context));
  });
}
LOCKSTEP_CUDA_API cuCtxGetCurrent(void** context) {
  return driver_api([&](Runtime&) {
    require(context != nullptr);
    *context = context_stack().empty() ? nullptr : context_stack().back();
  });
}
LOCKSTEP_CUDA_API cuCtxGetDevice(int* device) {
  return driver_api([&](Runtime&) {
    require(device != nullptr);
    require(!context_stack().empty(), Status::kErrorDeviceUninitialized);
    *device = static_cast<int>(current_device());
  });
}
LOCKSTEP_CUDA_API cuCtxGetFlags(unsigned* flags) {
  return driver_api([&](Runtime&) {
    require(flags != nullptr);
    *flags = current_context().flags;
  });
}
LOCKSTEP_CUDA_API cuCtxSynchronize() {
  return driver([] { return cudaDeviceSynchronize(); });
}
LOCKSTEP_CUDA_API cuCtxSetLimit(int limit, std::size_t value) {
  return driver([&] { return cudaDeviceSetLimit(limit, value); });
}
LOCKSTEP_CUDA_API cuCtxGetLimit(std::size_t* value, int limit) {
  return driver([&] { return cudaDeviceGetLimit(value, limit); });
}
LOCKSTEP_CUDA_API cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return driver([&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}

}  // namespace lockstep::cuda
