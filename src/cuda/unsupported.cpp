// Every function of the runtime and of the driver API that nothing else here defines: an error that names it,
// never a silent success.
#include "cuda/api.hpp"
#include "cuda/driver.hpp"

namespace lockstep::cuda {

namespace {
auto refusal(const char* name) {
  return [name](Runtime& rt) {
    rt.warnings.unsupported(name);
    throw ApiError(Status::kErrorNotSupported);
  };
}
}  // namespace

// Under names of their own here: what they are called elsewhere has parameters.
#define X(name)                                                                                    \
  extern "C" __attribute__((weak, visibility("default"))) int unsupported_##name() __asm__(#name); \
  extern "C" int unsupported_##name() { return api(refusal(#name)); }
#include "cuda/exported_names.inc"
#undef X

#define X(name)                                                                                    \
  extern "C" __attribute__((weak, visibility("default"))) int unsupported_##name() __asm__(#name); \
  extern "C" int unsupported_##name() { return driver_api(refusal(#name)); }
#include "cuda/driver_names.inc"
#undef X

}  // namespace lockstep::cuda
