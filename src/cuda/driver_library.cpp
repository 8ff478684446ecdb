// What modules and libraries consist of, of both APIs, and what only libraries have.
#include <algorithm>
#include <vector>

#include "cuda/driver.hpp"

extern "C" {
int cuLibraryLoadData(void**, const void*, const int*, void**, unsigned, const int*, void**, unsigned);
int cuLibraryLoadFromFile(void**, const char*, const int*, void**, unsigned, const int*, void**, unsigned);
int cuLibraryUnload(void*);
int cuLibraryGetKernel(void**, void*, const char*);
int cuLibraryGetGlobal(lockstep::cuda::DevicePointer*, std::size_t*, void*, const char*);
}

namespace lockstep::cuda {

namespace {

/// In the order of the PTX.
std::vector<std::string> kernels_of(Module& module) {
  std::vector<std::string> names;
  for (const ptx::Function& f : module.program().functions)
    if (f.entry && f.has_body) names.push_back(f.name);
  return names;
}

int count(unsigned* kernels, void* handle) {
  return driver_api([&](Runtime& rt) {
    require(kernels != nullptr);
    *kernels = static_cast<unsigned>(kernels_of(module_of(rt, handle)).size());
  });
}
int enumerate(void** kernels, unsigned most, void* handle) {
  return driver_api([&](Runtime& rt) {
    require(kernels != nullptr);
    Module& module = module_of(rt, handle);
    const auto names = kernels_of(module);
    for (std::size_t i = 0; i < std::min<std::size_t>(most, names.size()); ++i)
      kernels[i] = &rt.modules.kernel(module, names[i]);
  });
}

int managed(DevicePointer* address, std::size_t* bytes, void* library, const char* name) {
  return driver_api([&](Runtime& rt) {
    require(name != nullptr);
    const auto found = module_of(rt, library).variable(name);
    require(found.has_value(), Status::kErrorSymbolNotFound);
    const auto memory = rt.memory.find(found->address);
    require(memory && memory->kind == exec::MemoryKind::kManaged, Status::kErrorSymbolNotFound);
    if (address != nullptr) *address = found->address;
    if (bytes != nullptr) *bytes = found->bytes;
  });
}

/// For what no module has: texture and surface references, which CUDA 13's PTX has not, and the addresses of
/// functions that devices share with the host, which a simulated device cannot.
int not_found(void* library, const char* name) {
  return driver_api([&](Runtime& rt) {
    require(name != nullptr);
    (void)module_of(rt, library);
    throw ApiError(Status::kErrorSymbolNotFound);
  });
}

int parameter(const void* f, std::size_t index, std::size_t* offset, std::size_t* size) {
  return api([&](Runtime& rt) {
    const auto& parameters = rt.modules.kernel(f).function().parameters;
    require(offset != nullptr && index < parameters.size());
    *offset = parameters[index].offset;
    if (size != nullptr) *size = parameters[index].size;
  });
}

/// A result of the driver as one of the runtime: the numbers are the same.
int as_runtime(int result) { return result == 0 ? 0 : finish(static_cast<Status>(result)); }

}  // namespace

LOCKSTEP_CUDA_API cuModuleGetFunctionCount(unsigned* n, void* module) { return count(n, module); }
LOCKSTEP_CUDA_API cuModuleEnumerateFunctions(void** functions, unsigned n, void* module) {
  return enumerate(functions, n, module);
}
LOCKSTEP_CUDA_API cuModuleGetLoadingMode(int* mode) {
  return driver_api([&](Runtime&) {
    constexpr int kLazy = 2;
    require(mode != nullptr);
    *mode = kLazy;
  });
}
LOCKSTEP_CUDA_API cuModuleGetTexRef(void**, void* module, const char* name) {
  return not_found(module, name);
}
LOCKSTEP_CUDA_API cuModuleGetSurfRef(void**, void* module, const char* name) {
  return not_found(module, name);
}
LOCKSTEP_CUDA_API cuLibraryGetKernelCount(unsigned* n, void* library) { return count(n, library); }
LOCKSTEP_CUDA_API cuLibraryEnumerateKernels(void** kernels, unsigned n, void* library) {
  return enumerate(kernels, n, library);
}
LOCKSTEP_CUDA_API cuLibraryGetManaged(DevicePointer* address, std::size_t* bytes, void* library,
                                      const char* name) {
  return managed(address, bytes, library, name);
}
LOCKSTEP_CUDA_API cuLibraryGetUnifiedFunction(void**, void* library, const char* name) {
  return not_found(library, name);
}
LOCKSTEP_CUDA_API cuKernelGetParamInfo(void* kernel, std::size_t i, std::size_t* offset, std::size_t* size) {
  return driver([&] { return parameter(kernel, i, offset, size); });
}
LOCKSTEP_CUDA_API cuFuncGetParamInfo(void* f, std::size_t i, std::size_t* offset, std::size_t* size) {
  return driver([&] { return parameter(f, i, offset, size); });
}
LOCKSTEP_CUDA_API cuKernelSetCacheConfig(void* kernel, int preference, int) {
  return driver([&] { return cudaFuncSetCacheConfig(kernel, preference); });
}
LOCKSTEP_CUDA_API cuFuncSetSharedMemConfig(void* f, int config) {
  return driver_api([&](Runtime& rt) {
    (void)rt.modules.kernel(f);
    require(config >= 0 && config <= 2);
  });
}
LOCKSTEP_CUDA_API cuFuncIsLoaded(int* state, void* f) {
  return driver_api([&](Runtime& rt) {
    constexpr int kLoaded = 1;
    require(state != nullptr);
    (void)rt.modules.kernel(f);
    *state = kLoaded;
  });
}
LOCKSTEP_CUDA_API cuFuncLoad(void* f) {
  return driver_api([&](Runtime& rt) { (void)rt.modules.kernel(f).function(); });
}

LOCKSTEP_CUDA_API cudaFuncGetParamInfo(const void* f, std::size_t i, std::size_t* offset, std::size_t* size) {
  return parameter(f, i, offset, size);
}
LOCKSTEP_CUDA_API cudaFuncSetSharedMemConfig(const void* f, int config) {
  return as_runtime(cuFuncSetSharedMemConfig(const_cast<void*>(f), config));
}
LOCKSTEP_CUDA_API cudaKernelSetAttributeForDevice(void* kernel, int attribute, int value, int device) {
  return api([&](Runtime& rt) {
    (void)rt.devices.at(device);
    if (const int result = cudaFuncSetAttribute(kernel, attribute, value); result != 0)
      throw ApiError(static_cast<Status>(result));
  });
}
LOCKSTEP_CUDA_API cudaLibraryLoadData(void** library, const void* image, const int* options, void** values,
                                      unsigned n, const int* more, void** more_values, unsigned more_n) {
  return as_runtime(cuLibraryLoadData(library, image, options, values, n, more, more_values, more_n));
}
LOCKSTEP_CUDA_API cudaLibraryLoadFromFile(void** library, const char* path, const int* options, void** values,
                                          unsigned n, const int* more, void** more_values, unsigned more_n) {
  return as_runtime(cuLibraryLoadFromFile(library, path, options, values, n, more, more_values, more_n));
}
LOCKSTEP_CUDA_API cudaLibraryUnload(void* library) { return as_runtime(cuLibraryUnload(library)); }
LOCKSTEP_CUDA_API cudaLibraryGetKernel(void** kernel, void* library, const char* name) {
  return as_runtime(cuLibraryGetKernel(kernel, library, name));
}
LOCKSTEP_CUDA_API cudaLibraryGetGlobal(void** address, std::size_t* bytes, void* library, const char* name) {
  return as_runtime(cuLibraryGetGlobal(reinterpret_cast<DevicePointer*>(address), bytes, library, name));
}
LOCKSTEP_CUDA_API cudaLibraryGetManaged(void** address, std::size_t* bytes, void* library, const char* name) {
  return as_runtime(managed(reinterpret_cast<DevicePointer*>(address), bytes, library, name));
}
LOCKSTEP_CUDA_API cudaLibraryGetUnifiedFunction(void**, void* library, const char* name) {
  return as_runtime(not_found(library, name));
}
LOCKSTEP_CUDA_API cudaLibraryGetKernelCount(unsigned* n, void* library) {
  return as_runtime(count(n, library));
}
LOCKSTEP_CUDA_API cudaLibraryEnumerateKernels(void** kernels, unsigned n, void* library) {
  return as_runtime(enumerate(kernels, n, library));
}

}  // namespace lockstep::cuda
