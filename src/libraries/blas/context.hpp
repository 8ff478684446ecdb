// What a cuBLAS handle is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "libraries/blas/abi.hpp"
#include "libraries/common/driver.hpp"
#include "libraries/common/handles.hpp"
#include "libraries/common/kernels.hpp"

namespace lockstep::libraries::blas {

struct Context {
  Context();
  int device = 0, multiprocessors = 1, arch = 70;
  Stream stream = nullptr;
  int pointer_mode = kPointersOnHost, math_mode = 0, atomics_mode = 0, sm_target = 0;
  [[nodiscard]] bool on_device() const { return pointer_mode == kPointersOnDevice; }
};

/// Calls `body` with what `handle` is, on its device.
template <class Body>
Status with_context(const void* handle, Body&& body) {
  return guarded(&status_of, [&] {
    Context& context = handles<Context>().get(handle);
    const OnDevice on(context.device);
    body(context);
  });
}

/// Of the library, and of the runtime that it is for, as the name has it by which the program has loaded this
/// library.
[[nodiscard]] int library_version();
[[nodiscard]] int runtime_version();

[[nodiscard]] const char* name_of(int status);
/// cublasGetProperty.
[[nodiscard]] Status get_property(int property, int* value);

/// PTX of this folder, and its kernels.
[[nodiscard]] std::string_view embedded_ptx(std::string_view file);
[[nodiscard]] Kernels& kernels_of(const std::string& file);

}  // namespace lockstep::libraries::blas
