// Entry points by name.
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "cuda/driver.hpp"

namespace lockstep::cuda {

namespace {

/// The newest of NAME, NAME_v2, NAME_v3, NAME_v4 in this library.
void* find(const char* name) {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&driver_result), &here) == 0) return nullptr;
  void* library = dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* found = nullptr;
  for (const char* suffix : {"_v4", "_v3", "_v2", ""})
    if (found == nullptr) found = dlsym(library, (std::string(name) + suffix).c_str());
  dlclose(library);
  return found;
}

int entry(const char* name, void** function, int* status) {
  enum { kFound, kNotFound };
  if (name == nullptr || function == nullptr) return static_cast<int>(Status::kErrorInvalidValue);
  *function = std::strncmp(name, "cu", 2) == 0 ? find(name) : nullptr;
  if (status != nullptr) *status = *function != nullptr ? kFound : kNotFound;
  return *function != nullptr ? 0 : static_cast<int>(Status::kErrorSymbolNotFound);
}

}  // namespace

LOCKSTEP_CUDA_API cuGetProcAddress(const char* name, void** function, int, unsigned long long) {
  return entry(name, function, nullptr);
}
LOCKSTEP_CUDA_API cuGetProcAddress_v2(const char* name, void** function, int, unsigned long long,
                                      int* status) {
  return entry(name, function, status);
}
LOCKSTEP_CUDA_API cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                          int* status) {
  const int result = entry(name, function, status);
  return result == static_cast<int>(Status::kErrorSymbolNotFound) && status != nullptr ? 0 : result;
}
LOCKSTEP_CUDA_API cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                   unsigned long long, int* status) {
  const int result = entry(name, function, status);
  return result == static_cast<int>(Status::kErrorSymbolNotFound) && status != nullptr ? 0 : result;
}

}  // namespace lockstep::cuda
