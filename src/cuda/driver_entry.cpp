// Entry points by name.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "cuda/driver.hpp"

namespace lockstep::cuda {

namespace {

constexpr int kNewest = std::numeric_limits<int>::max();

/// Forms of a function that take other parameters than the ones before: from which CUDA on they are what its
/// name means (cudaTypedefs.h).
struct Form {
  const char *name, *suffix;
  int from;
};
constexpr Form kForms[] = {{"cuCtxCreate", "_v3", 11040},
                           {"cuCtxCreate", "_v4", 12050},
                           {"cuEventElapsedTime", "_v2", 12080},
                           {"cuGraphAddDependencies", "_v2", 12030},
                           {"cuGraphAddKernelNode", "_v2", 12000},
                           {"cuGraphAddNode", "_v2", 12030},
                           {"cuGraphExecKernelNodeSetParams", "_v2", 12000},
                           {"cuGraphExecUpdate", "_v2", 12000},
                           {"cuGraphKernelNodeGetParams", "_v2", 12000},
                           {"cuGraphKernelNodeSetParams", "_v2", 12000},
                           {"cuGraphGetEdges", "_v2", 12030},
                           {"cuGraphNodeGetDependencies", "_v2", 12030},
                           {"cuGraphNodeGetDependentNodes", "_v2", 12030},
                           {"cuGraphRemoveDependencies", "_v2", 12030},
                           {"cuStreamBeginCapture", "_v2", 10010},
                           {"cuStreamGetCaptureInfo", "_v2", 11030},
                           {"cuStreamGetCaptureInfo", "_v3", 12030},
                           {"cuStreamUpdateCaptureDependencies", "_v2", 12030},
                           {"cuMemAdvise", "_v2", 12020},
                           {"cuMemPrefetchAsync", "_v2", 12020},
                           {"cuMemcpy3DBatchAsync", "_v2", 13000},
                           {"cuMemcpyBatchAsync", "_v2", 13000},
                           {"cuStreamGetCtx", "_v2", 12050},
                           {"cuCtxGetDevice", "_v2", 13000},
                           {"cuCtxSynchronize", "_v2", 13000}};

bool is_later(const char* name, const char* suffix, int version) {
  return std::ranges::any_of(kForms, [&](const Form& form) {
    return std::strcmp(form.name, name) == 0 && std::strcmp(form.suffix, suffix) == 0 && version < form.from;
  });
}

/// The newest of NAME, NAME_v2, NAME_v3, NAME_v4 in this library that CUDA `version` has.
void* find(const char* name, int version) {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&driver_result), &here) == 0) return nullptr;
  void* library = dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* found = nullptr;
  for (const char* suffix : {"_v4", "_v3", "_v2", ""})
    if (found == nullptr && !is_later(name, suffix, version))
      found = dlsym(library, (std::string(name) + suffix).c_str());
  dlclose(library);
  return found;
}

int entry(const char* name, void** function, int version, int* status) {
  enum { kFound, kNotFound };
  if (name == nullptr || function == nullptr) return static_cast<int>(Status::kErrorInvalidValue);
  const bool is_drivers = std::strncmp(name, "cu", 2) == 0 && std::strncmp(name, "cuda", 4) != 0;
  *function = is_drivers ? find(name, version) : nullptr;  // the runtime's are in the same library
  if (status != nullptr) *status = *function != nullptr ? kFound : kNotFound;
  return *function != nullptr ? 0 : static_cast<int>(Status::kErrorSymbolNotFound);
}

}  // namespace

LOCKSTEP_CUDA_API cuGetProcAddress(const char* name, void** function, int version, unsigned long long) {
  return entry(name, function, version, nullptr);
}
LOCKSTEP_CUDA_API cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long,
                                      int* status) {
  return entry(name, function, version, status);
}
LOCKSTEP_CUDA_API cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                          int* status) {
  const int result = entry(name, function, kNewest, status);
  return result == static_cast<int>(Status::kErrorSymbolNotFound) && status != nullptr ? 0 : result;
}
LOCKSTEP_CUDA_API cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                                   unsigned long long, int* status) {
  const int result = entry(name, function, static_cast<int>(version), status);
  return result == static_cast<int>(Status::kErrorSymbolNotFound) && status != nullptr ? 0 : result;
}

}  // namespace lockstep::cuda
