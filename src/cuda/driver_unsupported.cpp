// Every function of the driver API that nothing else here defines: an error that names it, never a silent
// success.
#include "cuda/driver.hpp"

namespace lockstep::cuda {

namespace {
int unsupported(const char* name) noexcept {
  return driver_api([name](Runtime& rt) {
    rt.warn_unsupported(name);
    throw ApiError(Status::kErrorNotSupported);
  });
}
}  // namespace

#define X(name) \
  extern "C" __attribute__((weak, visibility("default"))) int name() { return unsupported(#name); }
#include "cuda/driver_names.inc"
#undef X

}  // namespace lockstep::cuda
