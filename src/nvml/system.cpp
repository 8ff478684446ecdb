// The library itself: nvmlInit to nvmlShutdown, versions, error texts.
#include <cstring>
#include <string_view>

#include "cuda/device.hpp"
#include "nvml/library.hpp"

namespace lockstep::nvml {

namespace {

/// Versions of the driver that came with CUDA 13.0 (release notes of CUDA 13.0, table 3), and of its NVML.
constexpr std::string_view kDriver = "580.65.06", kLibrary = "13.580.65.06";

Return open() {
  return locked([](Library& library, void*) { return library.open(), Return::kSuccess; }, nullptr);
}

Return cuda_version(int* version) {
  if (version == nullptr) return Return::kInvalidArgument;
  *version = cuda::kRuntimeVersion;
  return Return::kSuccess;
}

}  // namespace

LOCKSTEP_NVML_API nvmlInit() { return open(); }
LOCKSTEP_NVML_API nvmlInit_v2() { return open(); }
LOCKSTEP_NVML_API nvmlInitWithFlags(unsigned) { return open(); }
LOCKSTEP_NVML_API nvmlShutdown() {
  return api([](Library& library) { return library.close() ? Return::kSuccess : Return::kUninitialized; });
}

extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(Return result) {
  switch (result) {
    case Return::kSuccess:
      return "Success";
    case Return::kUninitialized:
      return "Uninitialized";
    case Return::kInvalidArgument:
      return "Invalid Argument";
    case Return::kNotSupported:
      return "Not Supported";
    case Return::kNotFound:
      return "Not Found";
    case Return::kInsufficientSize:
      return "Insufficient Size";
    case Return::kDriverNotLoaded:
      return "Driver Not Loaded";
    case Return::kUnknown:
      break;
  }
  return "Unknown Error";
}

LOCKSTEP_NVML_API nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  return api([&](Library&) { return give(kDriver, text, bytes); });
}
LOCKSTEP_NVML_API nvmlSystemGetNVMLVersion(char* text, unsigned bytes) {
  return api([&](Library&) { return give(kLibrary, text, bytes); });
}
LOCKSTEP_NVML_API nvmlSystemGetCudaDriverVersion(int* version) {
  return api([&](Library&) { return cuda_version(version); });
}
LOCKSTEP_NVML_API nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return api([&](Library&) { return cuda_version(version); });
}

}  // namespace lockstep::nvml
