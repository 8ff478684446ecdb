#include "libraries/common/driver.hpp"

#include <dlfcn.h>

#include <string>

#include "libraries/common/error.hpp"

namespace lockstep::libraries {
namespace {

/// In the folder of this library or the one above, from which the hook takes the one that replaces a static
/// runtime, too.
void* open_runtime() {
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(&open_runtime), &own);
  const std::string path = own.dli_fname != nullptr ? own.dli_fname : "";
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  void* const twelve = dlopen("libcudart.so.12", RTLD_LAZY | RTLD_NOLOAD);
  if (twelve != nullptr) dlclose(twelve);
  const std::string name = twelve != nullptr ? "libcudart.so.12" : "libcudart.so.13";
  void* runtime = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (runtime == nullptr) runtime = dlopen((folder + "../" + name).c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (runtime == nullptr) throw Error(Failure::kNotInitialized, dlerror());
  return runtime;
}

Runtime find_runtime() {
  void* const library = open_runtime();
  Runtime found;
#define X(name, parameters)                                                   \
  found.name = reinterpret_cast<decltype(found.name)>(dlsym(library, #name)); \
  if (found.name == nullptr) throw Error(Failure::kNotInitialized, "no " #name);
  LOCKSTEP_RUNTIME_FUNCTIONS(X)
#undef X
  return found;
}

}  // namespace

const Runtime& runtime() {
  static const Runtime found = find_runtime();
  return found;
}

void check(int code, const char* what) {
  constexpr int kOutOfMemory = 2;
  if (code == 0) return;
  throw Error(code == kOutOfMemory ? Failure::kAllocation : Failure::kExecution,
              std::string(what) + " failed with error " + std::to_string(code));
}

OnDevice::OnDevice(int device) : device_(device) {
  check(runtime().cudaGetDevice(&before_), "cudaGetDevice");
  if (device_ != before_) check(runtime().cudaSetDevice(device_), "cudaSetDevice");
}

OnDevice::~OnDevice() {
  if (device_ != before_) runtime().cudaSetDevice(before_);
}

Scratch::Scratch(std::size_t bytes, Stream stream) : stream_(stream) {
  if (bytes > 0) check(runtime().cudaMallocAsync(&data_, bytes, stream), "cudaMallocAsync");
}

Scratch::~Scratch() {
  if (data_ != nullptr) runtime().cudaFreeAsync(data_, stream_);
}

}  // namespace lockstep::libraries
