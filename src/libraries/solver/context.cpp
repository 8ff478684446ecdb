// Handles of cuSOLVER's dense part.
#include "libraries/solver/context.hpp"

namespace lockstep::libraries::solver {

LOCKSTEP_SOLVER_API cusolverDnCreate(void** handle) {
  return guarded(&status_of, [&] {
    require(handle != nullptr);
    *handle = handles<Context>().create();
  });
}
LOCKSTEP_SOLVER_API cusolverDnDestroy(void* handle) {
  return guarded(&status_of, [&] { handles<Context>().destroy(handle); });
}
LOCKSTEP_SOLVER_API cusolverDnSetStream(void* handle, Stream stream) {
  return with_context(handle, [&](Context& context) { context.blas.stream = stream; });
}
LOCKSTEP_SOLVER_API cusolverDnGetStream(void* handle, Stream* stream) {
  return with_context(handle, [&](Context& context) {
    require(stream != nullptr);
    *stream = context.blas.stream;
  });
}
/// Results are always the same.
LOCKSTEP_SOLVER_API cusolverDnSetDeterministicMode(void* handle, int mode) {
  return with_context(handle, [&](Context& context) {
    require(mode == 1 || mode == 2);
    context.deterministic = mode == 1;
  });
}
LOCKSTEP_SOLVER_API cusolverDnGetDeterministicMode(void* handle, int* mode) {
  return with_context(handle, [&](Context& context) {
    require(mode != nullptr);
    *mode = context.deterministic ? 1 : 2;
  });
}

}  // namespace lockstep::libraries::solver
