#include "libraries/common/kernels.hpp"

#include "libraries/common/error.hpp"

namespace lockstep::libraries {

void* Kernels::find(const char* name) {
  const std::lock_guard lock(mutex_);
  if (library_ == nullptr)
    check(runtime().cudaLibraryLoadData(&library_, ptx_.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          "loading the library's kernels");
  void*& kernel = kernels_[name];
  if (kernel == nullptr) check(runtime().cudaLibraryGetKernel(&kernel, library_, name), name);
  return kernel;
}

void Kernels::launch_with(const char* name, Dim3 grid, Dim3 block, unsigned shared_bytes, Stream stream,
                          void** arguments) {
  constexpr unsigned kSharedWithoutAsking = 48 * 1024;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  void* const kernel = find(name);
  if (shared_bytes > kSharedWithoutAsking)
    check(runtime().cudaFuncSetAttribute(kernel, kFunctionMaxDynamicShared, static_cast<int>(shared_bytes)),
          name);
  check(runtime().cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream), name);
}

}  // namespace lockstep::libraries
