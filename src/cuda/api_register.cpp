// What the code that nvcc generates calls before main and at each launch.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda/api.hpp"
#include "cuda/lasting.hpp"
#include "cuda/loaded_fatbin.hpp"

namespace lockstep::cuda {

namespace {

constexpr std::uint32_t kLinkedVersion = 2;

/// fatbinary_section.h of CUDA: what __cudaRegisterFatBinary is given.
struct Wrapper {
  std::uint32_t magic, version;
  const std::byte* data;
  const void* prelinked;  // version 2: pointers to the objects' fatbins, then a null pointer
};
static_assert(sizeof(Wrapper) == 24);

std::vector<std::span<const std::byte>> fatbins_of(const Wrapper& wrapper) {
  require(wrapper.magic == kWrapperMagic, Status::kErrorInvalidKernelImage);
  std::vector<std::span<const std::byte>> fatbins;
  if (wrapper.version == kLinkedVersion && wrapper.prelinked != nullptr) {
    for (auto* next = static_cast<const std::byte* const*>(wrapper.prelinked); *next != nullptr; ++next)
      fatbins.push_back(loaded_fatbin(*next));
  }
  if (fatbins.empty()) fatbins.push_back(loaded_fatbin(wrapper.data));
  return fatbins;
}

Module& module_of(Runtime& rt, void** handle) {
  auto* module = reinterpret_cast<Module*>(handle);
  require(rt.modules.contains(module), Status::kErrorInvalidResourceHandle);
  return *module;
}

struct CallConfiguration {
  abi::dim3 grid, block;
  std::size_t shared;
  abi::Stream stream;
};

std::vector<CallConfiguration>& call_configurations() {
  thread_local std::vector<CallConfiguration>& all = make_lasting<std::vector<CallConfiguration>>();
  return all;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void** __cudaRegisterFatBinary(void* wrapper) {
  void** handle = nullptr;
  (void)api([&](Runtime& rt) {
    auto module = std::make_unique<Module>("program", fatbins_of(*static_cast<const Wrapper*>(wrapper)),
                                           rt.settings.ptx_limit(), rt.memory);
    handle = reinterpret_cast<void**>(&rt.modules.add(std::move(module)));
  });
  return handle;
}

LOCKSTEP_CUDA_API __cudaRegisterFatBinaryEnd(void** handle) {
  return api([&](Runtime& rt) { (void)module_of(rt, handle); });
}

// Programs unregister in an exit handler, when their statistics are still to be written: nothing to do.
LOCKSTEP_CUDA_API __cudaUnregisterFatBinary(void**) { return 0; }

LOCKSTEP_CUDA_API __cudaRegisterFunction(void** handle, const void* host, char*, const char* name, int, void*,
                                         void*, void*, void*, int*) {
  return api([&](Runtime& rt) { rt.modules.register_kernel(module_of(rt, handle), host, name); });
}

LOCKSTEP_CUDA_API __cudaRegisterVar(void** handle, const void* host, char*, const char* name, int,
                                    std::size_t, int, int) {
  return api([&](Runtime& rt) { rt.modules.register_variable(module_of(rt, handle), host, name); });
}

LOCKSTEP_CUDA_API __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* name, int,
                                           std::size_t, int, int) {
  return api([&](Runtime& rt) {
    Module& module = module_of(rt, handle);
    module.managed.emplace_back(host_pointer, name);
    rt.modules.register_variable(module, host_pointer, name);
  });
}

extern "C" __attribute__((visibility("default"))) char __cudaInitModule(void** handle) {
  return api([&](Runtime& rt) { (void)module_of(rt, handle).image(); }) == 0 ? 1 : 0;
}

LOCKSTEP_CUDA_API __cudaPushCallConfiguration(abi::dim3 grid, abi::dim3 block, std::size_t shared,
                                              abi::Stream stream) {
  call_configurations().push_back({grid, block, shared, stream});
  return 0;
}

LOCKSTEP_CUDA_API __cudaPopCallConfiguration(abi::dim3* grid, abi::dim3* block, std::size_t* shared,
                                             void* stream) {
  if (call_configurations().empty()) return finish(Status::kErrorMissingConfiguration);
  const CallConfiguration top = call_configurations().back();
  call_configurations().pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<decltype(CallConfiguration::stream)*>(stream) = top.stream;
  return 0;
}

LOCKSTEP_CUDA_API __cudaGetKernel(void** kernel, const void* host) {
  return api([&](Runtime& rt) {
    require(kernel != nullptr);
    *kernel = &rt.modules.kernel(host);
  });
}
LOCKSTEP_CUDA_API cudaGetKernel(void** kernel, const void* host) { return __cudaGetKernel(kernel, host); }
LOCKSTEP_CUDA_API cudaGetFuncBySymbol(void** function, const void* host) {
  return __cudaGetKernel(function, host);
}

}  // namespace lockstep::cuda
