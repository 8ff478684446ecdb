#include "libraries/blas/context.hpp"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <string_view>

namespace lockstep::libraries::blas {

Context::Context() {
  const Runtime& rt = runtime();
  check(rt.cudaFree(nullptr), "the device's first call");
  check(rt.cudaGetDevice(&device), "cudaGetDevice");
  int major = 7, minor = 0;
  check(rt.cudaDeviceGetAttribute(&multiprocessors, kAttributeMultiprocessors, device), "an attribute");
  check(rt.cudaDeviceGetAttribute(&major, kAttributeMajor, device), "an attribute");
  check(rt.cudaDeviceGetAttribute(&minor, kAttributeMinor, device), "an attribute");
  arch = 10 * major + minor;
}

Kernels& kernels_of(const std::string& file) {
  static auto& mutex = *new std::mutex;
  static auto& all = *new std::map<std::string, Kernels>;  // to the end of the process
  const std::lock_guard lock(mutex);
  return all.try_emplace(file, embedded_ptx(file)).first->second;
}

namespace {

/// By which name the program has loaded this library.
bool for_cuda_12() {
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(&for_cuda_12), &own);
  return own.dli_fname != nullptr && std::string_view(own.dli_fname).ends_with(".so.12");
}

}  // namespace

int library_version() { return for_cuda_12() ? 120900 : 130100; }
const char* name_of(int status) {
  switch (status) {
    case kStatusSuccess:
      return "CUBLAS_STATUS_SUCCESS";
    case kStatusNotInitialized:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case kStatusAllocationFailed:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case kStatusInvalidValue:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case kStatusArchMismatch:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case kStatusMappingError:
      return "CUBLAS_STATUS_MAPPING_ERROR";
    case kStatusExecutionFailed:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case kStatusInternalError:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case kStatusNotSupported:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case kStatusLicenseError:
      return "CUBLAS_STATUS_LICENSE_ERROR";
    default:
      return "unknown cuBLAS status";
  }
}

Status get_property(int property, int* value) {
  return guarded(&status_of, [&] {
    require(value != nullptr && property >= 0 && property <= 2);
    const int version = library_version();
    *value = property == 0 ? version / 10000 : property == 1 ? version / 100 % 100 : version % 100;
  });
}

int runtime_version() { return for_cuda_12() ? 12090 : 13000; }

namespace {

template <class T>
Status read_setting(const void* handle, T* to, T Context::*member) {
  return with_context(handle, [&](Context& context) {
    require(to != nullptr);
    *to = context.*member;
  });
}
Status write_setting(const void* handle, int Context::*member, int value, bool valid) {
  return with_context(handle, [&](Context& context) {
    require(valid);
    context.*member = value;
  });
}
bool is_math_mode(int mode) {
  constexpr int kNoReducedPrecision = 16, kTf32 = 3;
  return (mode & ~kNoReducedPrecision) >= 0 && (mode & ~kNoReducedPrecision) <= kTf32;
}

}  // namespace

LOCKSTEP_LIBRARY_API Status cublasCreate_v2(void** handle) {
  return guarded(&status_of, [&] {
    require(handle != nullptr);
    *handle = handles<Context>().create();
  });
}
LOCKSTEP_LIBRARY_API Status cublasDestroy_v2(void* handle) {
  return guarded(&status_of, [&] { handles<Context>().destroy(handle); });
}
LOCKSTEP_LIBRARY_API Status cublasGetVersion_v2(void* handle, int* version) {
  return with_context(handle, [&](Context&) {
    require(version != nullptr);
    *version = library_version();
  });
}
LOCKSTEP_LIBRARY_API Status cublasGetProperty(int property, int* value) {
  return get_property(property, value);
}
LOCKSTEP_LIBRARY_API std::size_t cublasGetCudartVersion() {
  return static_cast<std::size_t>(runtime_version());
}
LOCKSTEP_LIBRARY_API const char* cublasGetStatusName(int status) { return name_of(status); }
LOCKSTEP_LIBRARY_API const char* cublasGetStatusString(int status) { return name_of(status); }

LOCKSTEP_LIBRARY_API Status cublasSetStream_v2(void* handle, Stream stream) {
  return with_context(handle, [&](Context& context) { context.stream = stream; });
}
LOCKSTEP_LIBRARY_API Status cublasGetStream_v2(void* handle, Stream* stream) {
  return read_setting(handle, stream, &Context::stream);
}
LOCKSTEP_LIBRARY_API Status cublasSetPointerMode_v2(void* handle, int mode) {
  return write_setting(handle, &Context::pointer_mode, mode, mode == 0 || mode == 1);
}
LOCKSTEP_LIBRARY_API Status cublasGetPointerMode_v2(void* handle, int* mode) {
  return read_setting(handle, mode, &Context::pointer_mode);
}
LOCKSTEP_LIBRARY_API Status cublasSetMathMode(void* handle, int mode) {
  if (mode == 4 || mode == 8)
    return with_context(handle, [](Context&) { refuse("cublasSetMathMode: emulation"); });
  return write_setting(handle, &Context::math_mode, mode, is_math_mode(mode));
}
LOCKSTEP_LIBRARY_API Status cublasGetMathMode(void* handle, int* mode) {
  return read_setting(handle, mode, &Context::math_mode);
}
LOCKSTEP_LIBRARY_API Status cublasSetAtomicsMode(void* handle, int mode) {
  return write_setting(handle, &Context::atomics_mode, mode, mode == 0 || mode == 1);
}
LOCKSTEP_LIBRARY_API Status cublasGetAtomicsMode(void* handle, int* mode) {
  return read_setting(handle, mode, &Context::atomics_mode);
}
LOCKSTEP_LIBRARY_API Status cublasSetSmCountTarget(void* handle, int count) {
  return write_setting(handle, &Context::sm_target, count, count >= 0);
}
LOCKSTEP_LIBRARY_API Status cublasGetSmCountTarget(void* handle, int* count) {
  return read_setting(handle, count, &Context::sm_target);
}
/// The kernels need no workspace.
LOCKSTEP_LIBRARY_API Status cublasSetWorkspace_v2(void* handle, void*, std::size_t) {
  return with_context(handle, [](Context&) {});
}

}  // namespace lockstep::libraries::blas
