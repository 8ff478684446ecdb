// Every function of the runtime and of the driver API that nothing else here defines: an error that names it,
// never a silent success.
#include <dlfcn.h>

#include "cuda/api.hpp"
#include "cuda/driver.hpp"

namespace lockstep::cuda {

namespace {
/// The program or the shared object that `code` is in.
std::string object_of(const void* code) {
  Dl_info object{};
  return dladdr(code, &object) != 0 && object.dli_fname != nullptr ? object.dli_fname : "";
}

auto refusal(const char* name, const void* caller) {
  return [name, caller](Runtime& rt) {
    rt.warnings.unsupported(name, object_of(caller));
    throw ApiError(Status::kErrorNotSupported);
  };
}
}  // namespace

// Under names of their own here: what they are called elsewhere has parameters.
#define X(name)                                                                                    \
  extern "C" __attribute__((weak, visibility("default"))) int unsupported_##name() __asm__(#name); \
  extern "C" int unsupported_##name() { return api(refusal(#name, __builtin_return_address(0))); }
#include "cuda/exported_names.inc"
#undef X

#define X(name)                                                                                    \
  extern "C" __attribute__((weak, visibility("default"))) int unsupported_##name() __asm__(#name); \
  extern "C" int unsupported_##name() { return driver_api(refusal(#name, __builtin_return_address(0))); }
#include "cuda/driver_names.inc"
#undef X

}  // namespace lockstep::cuda
