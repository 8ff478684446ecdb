// Rarely used functions on contexts and devices, of both APIs.
#include <algorithm>

#include "cuda/device.hpp"
#include "cuda/driver.hpp"

extern "C" {
int cudaDeviceGetByPCIBusId(int*, const char*);
int cudaDeviceGetCacheConfig(int*);
int cudaDeviceSetCacheConfig(int);
int cudaHostGetFlags(unsigned*, void*);
int cudaProfilerStart();
int cudaProfilerStop();
}

namespace lockstep::cuda {

namespace {

/// enum cudaSharedMemConfig: since compute capability 5.0 banks are of four bytes, whatever is set (CUDA C++
/// Programming Guide, shared memory).
enum BankSize { kDefaultBanks, kFourBytes, kEightBytes };

int bank_size(int* config) {
  return api([&](Runtime&) {
    require(config != nullptr);
    *config = kFourBytes;
  });
}
int set_bank_size(int config) {
  return api([&](Runtime&) { require(config >= kDefaultBanks && config <= kEightBytes); });
}

/// Linear memory as a 1D texture: 2^28 texels (CUDA C++ Programming Guide, technical specifications).
int texture_width(std::size_t* texels, int device) {
  return api([&](Runtime& rt) {
    require(texels != nullptr);
    (void)rt.devices.at(device);
    *texels = std::size_t{1} << 28;
  });
}

/// None of the machines here has atomics between host and device that are native to the link.
int host_atomics(unsigned* capabilities, const int* operations, unsigned count, int device) {
  return api([&](Runtime& rt) {
    require(capabilities != nullptr && operations != nullptr && count > 0);
    require(device_properties(rt.settings.gpu, rt.devices.at(device).number()).hostNativeAtomicSupported == 0,
            Status::kErrorNotSupported);
    std::fill_n(capabilities, count, 0U);
  });
}

Context& context_of(void* handle) {
  return handle != nullptr ? *static_cast<Context*>(handle) : current_context();
}

/// Throws ApiError where there is no such context.
const Context& known_context(Runtime& rt, const void* handle) {
  require(is_context(handle, static_cast<unsigned>(rt.devices.count())), Status::kErrorDeviceUninitialized);
  return *static_cast<const Context*>(handle);
}

/// CUdevprop.
struct Properties {
  int threads_per_cta, cta[3], grid[3], shared, constant, warp, pitch, registers, clock, alignment;
};
static_assert(sizeof(Properties) == 56);

}  // namespace

LOCKSTEP_CUDA_API cudaDeviceGetSharedMemConfig(int* config) { return bank_size(config); }
LOCKSTEP_CUDA_API cudaDeviceSetSharedMemConfig(int config) { return set_bank_size(config); }
LOCKSTEP_CUDA_API cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* texels,
                                                       const abi::ChannelFormatDesc* format, int device) {
  if (format == nullptr) return finish(Status::kErrorInvalidValue);
  return texture_width(texels, device);
}
LOCKSTEP_CUDA_API cudaDeviceGetHostAtomicCapabilities(unsigned* capabilities, const int* operations,
                                                      unsigned count, int device) {
  return host_atomics(capabilities, operations, count, device);
}

LOCKSTEP_CUDA_API cuDeviceGetTexture1DLinearMaxWidth(std::size_t* texels, int, unsigned, int device) {
  return driver([&] { return texture_width(texels, device); });
}
LOCKSTEP_CUDA_API cuDeviceGetHostAtomicCapabilities(unsigned* capabilities, const int* operations,
                                                    unsigned count, int device) {
  return driver([&] { return host_atomics(capabilities, operations, count, device); });
}
LOCKSTEP_CUDA_API cuDeviceGetByPCIBusId(int* device, const char* text) {
  return driver([&] { return cudaDeviceGetByPCIBusId(device, text); });
}
/// Contexts of a part of the SMs need the multi-process service, which is not there.
LOCKSTEP_CUDA_API cuDeviceGetExecAffinitySupport(int* there, int, int device) {
  return driver_api([&](Runtime& rt) {
    require(there != nullptr);
    (void)rt.devices.at(device);
    *there = 0;
  });
}
LOCKSTEP_CUDA_API cuDeviceGetProperties(Properties* p, int device) {
  return driver_api([&](Runtime& rt) {
    require(p != nullptr);
    const abi::DeviceProp all = device_properties(rt.settings.gpu, rt.devices.at(device).number());
    *p = {all.maxThreadsPerBlock,
          {all.maxThreadsDim[0], all.maxThreadsDim[1], all.maxThreadsDim[2]},
          {all.maxGridSize[0], all.maxGridSize[1], all.maxGridSize[2]},
          static_cast<int>(all.sharedMemPerBlock),
          static_cast<int>(all.totalConstMem),
          all.warpSize,
          static_cast<int>(all.memPitch),
          all.regsPerBlock,
          static_cast<int>(rt.settings.gpu.clock.core_khz),
          static_cast<int>(all.textureAlignment)};
  });
}

LOCKSTEP_CUDA_API cuCtxCreate_v3(void** context, const void*, int affinities, unsigned flags, int device) {
  return driver_api([&](Runtime& rt) {
    require(context != nullptr && affinities >= 0);
    require(affinities == 0, Status::kErrorUnsupportedExecAffinity);
    require_context_flags(flags);
    context_stack().push_back(&create_context(rt.devices.at(device).number(), flags));
    *context = context_stack().back();
  });
}
LOCKSTEP_CUDA_API cuCtxGetApiVersion(void*, unsigned* version) {
  return driver_api([&](Runtime&) {
    constexpr unsigned kContexts = 3020;  // since they are those of CUDA 3.2
    require(version != nullptr);
    *version = kContexts;
  });
}
LOCKSTEP_CUDA_API cuCtxGetId(void* context, unsigned long long* id) {
  return driver_api([&](Runtime&) {
    require(id != nullptr);
    *id = context_of(context).id;
  });
}
LOCKSTEP_CUDA_API cuCtxGetDevice_v2(int* device, void* context) {
  return driver_api([&](Runtime&) {
    require(device != nullptr);
    *device = static_cast<int>(context_of(context).device);
  });
}
LOCKSTEP_CUDA_API cuCtxSynchronize_v2(void* context) {
  return driver_api([&](Runtime& rt) {
    const OnDevice on(context_of(context).device);
    rt.wait_all();
  });
}
/// A context is a name for its device: its work is that of all streams of the device.
LOCKSTEP_CUDA_API cuCtxRecordEvent(void* context, void* event) {
  return driver_api([&](Runtime& rt) {
    const Context& of = known_context(rt, context);
    const auto handle = static_cast<abi::Event>(event);
    require(rt.streams.event(handle).context == &of, Status::kErrorInvalidResourceHandle);
    rt.record_device(of.device, handle);
  });
}
LOCKSTEP_CUDA_API cuCtxWaitEvent(void* context, void* event) {
  return driver_api([&](Runtime& rt) {
    rt.make_device_wait(known_context(rt, context).device, static_cast<abi::Event>(event));
  });
}
LOCKSTEP_CUDA_API cuCtxSetFlags(unsigned flags) {
  return driver_api([&](Runtime&) {
    require_context_flags(flags);
    current_context().flags = flags;
  });
}
LOCKSTEP_CUDA_API cuCtxGetExecAffinity(void*, int) {
  return static_cast<int>(Status::kErrorUnsupportedExecAffinity);
}
LOCKSTEP_CUDA_API cuCtxGetCacheConfig(int* preference) {
  return driver([&] { return cudaDeviceGetCacheConfig(preference); });
}
LOCKSTEP_CUDA_API cuCtxSetCacheConfig(int preference) {
  return driver([&] { return cudaDeviceSetCacheConfig(preference); });
}
LOCKSTEP_CUDA_API cuCtxGetSharedMemConfig(int* config) {
  return driver([&] { return bank_size(config); });
}
LOCKSTEP_CUDA_API cuCtxSetSharedMemConfig(int config) {
  return driver([&] { return set_bank_size(config); });
}
LOCKSTEP_CUDA_API cuCtxResetPersistingL2Cache() {
  return driver_api([](Runtime& rt) { ++rt.devices.current().l2_resets; });
}
LOCKSTEP_CUDA_API cuCtxAttach(void** context, unsigned flags) {
  return driver_api([&](Runtime&) {
    require(context != nullptr && flags == 0);
    *context = &current_context();
  });
}
LOCKSTEP_CUDA_API cuCtxDetach(void* context) {
  return driver_api([&](Runtime&) { require(context != nullptr, Status::kErrorDeviceUninitialized); });
}

LOCKSTEP_CUDA_API cuMemHostGetFlags(unsigned* flags, void* host) {
  return driver([&] { return cudaHostGetFlags(flags, host); });
}
LOCKSTEP_CUDA_API cuPointerSetAttribute(const void* value, int attribute, DevicePointer pointer) {
  return driver_api([&](Runtime& rt) {
    constexpr int kSyncMemops = 6;  // the only one that can be set: copies wait here anyway
    require(value != nullptr && attribute == kSyncMemops && rt.memory.find(pointer).has_value());
  });
}
LOCKSTEP_CUDA_API cuProfilerStart() {
  return driver([] { return cudaProfilerStart(); });
}
LOCKSTEP_CUDA_API cuProfilerStop() {
  return driver([] { return cudaProfilerStop(); });
}

}  // namespace lockstep::cuda
