// The kernels of a library: PTX that is part of it.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "libraries/common/driver.hpp"

namespace lockstep::libraries {

/// One PTX text, loaded for all devices at the first launch of one of its kernels. Thread-safe; to be kept
/// until the end of the process.
class Kernels {
 public:
  /// `ptx` is followed by a zero byte, and outlives this object.
  explicit Kernels(std::string_view ptx) : ptx_(ptx) {}

  /// Enqueues `name` in `stream`. Arguments are passed as they are: their types must be those of the kernel.
  /// A grid with no blocks does nothing. Throws Error.
  template <class... Arguments>
  void launch(const char* name, Dim3 grid, Dim3 block, unsigned shared_bytes, Stream stream,
              const Arguments&... arguments) {
    const void* pointers[] = {&arguments..., nullptr};
    launch_with(name, grid, block, shared_bytes, stream, const_cast<void**>(pointers));
  }

 private:
  void launch_with(const char* name, Dim3 grid, Dim3 block, unsigned shared_bytes, Stream stream,
                   void** arguments);
  [[nodiscard]] void* find(const char* name);

  std::string_view ptx_;
  std::mutex mutex_;
  void* library_ = nullptr;
  std::unordered_map<std::string, void*> kernels_;
};

}  // namespace lockstep::libraries
