#include "libraries/solver/jacobi_info.hpp"

namespace lockstep::libraries::solver {

JacobiInfo::~JacobiInfo() {
  if (results_ != nullptr) runtime().cudaFree(results_);
}

JacobiInfo::Results* JacobiInfo::results_for(const Context& context, bool batch) {
  used_ = true, of_batch_ = batch;
  if (batch) return nullptr;
  if (results_ != nullptr && device_ != context.blas.device) {
    check(runtime().cudaFree(results_), "cudaFree");
    results_ = nullptr;
  }
  if (results_ == nullptr) {
    void* memory = nullptr;
    check(runtime().cudaMalloc(&memory, sizeof(Results)), "cudaMalloc");
    results_ = static_cast<Results*>(memory), device_ = context.blas.device;
  }
  return results_;
}

JacobiInfo::Results JacobiInfo::results(const Context& context) const {
  require(used_);
  if (of_batch_) refuse("sweeps and residuals of a batch");
  Results results{};
  const Stream stream = context.blas.stream;
  check(runtime().cudaMemcpyAsync(&results, results_, sizeof results, kDeviceToHost, stream), "a copy");
  check(runtime().cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return results;
}

namespace {

template <class Info>
Status create_info(void** info) {
  return guarded(&status_of, [&] {
    require(info != nullptr);
    *info = handles<Info>().create();
  });
}
template <class Info, class Body>
Status with_info(const void* info, Body&& body) {
  return guarded(&status_of, [&] { body(handles<Info>().get(info)); });
}

}  // namespace

/// Solutions are found to within rounding, whatever the tolerance.
#define LOCKSTEP_JACOBI(Name, name)                                                                       \
  LOCKSTEP_SOLVER_API cusolverDnCreate##Name##Info(void** info) { return create_info<Name##Info>(info); } \
  LOCKSTEP_SOLVER_API cusolverDnDestroy##Name##Info(void* info) {                                         \
    return guarded(&status_of, [&] { handles<Name##Info>().destroy(info); });                             \
  }                                                                                                       \
  LOCKSTEP_SOLVER_API cusolverDnX##name##SetTolerance(void* info, double) {                               \
    return with_info<Name##Info>(info, [](JacobiInfo&) {});                                               \
  }                                                                                                       \
  LOCKSTEP_SOLVER_API cusolverDnX##name##SetMaxSweeps(void* info, int sweeps) {                           \
    return with_info<Name##Info>(info, [&](JacobiInfo& of) {                                              \
      require(sweeps >= 0);                                                                               \
      of.max_sweeps = sweeps;                                                                             \
    });                                                                                                   \
  }                                                                                                       \
  LOCKSTEP_SOLVER_API cusolverDnX##name##SetSortEig(void* info, int sorted) {                             \
    return with_info<Name##Info>(info, [&](JacobiInfo& of) { of.sorted = sorted != 0; });                 \
  }                                                                                                       \
  LOCKSTEP_SOLVER_API cusolverDnX##name##GetResidual(void* handle, void* info, double* residual) {        \
    return with_context(handle, [&](Context& context) {                                                   \
      require(residual != nullptr);                                                                       \
      *residual = handles<Name##Info>().get(info).results(context).residual;                              \
    });                                                                                                   \
  }                                                                                                       \
  LOCKSTEP_SOLVER_API cusolverDnX##name##GetSweeps(void* handle, void* info, int* sweeps) {               \
    return with_context(handle, [&](Context& context) {                                                   \
      require(sweeps != nullptr);                                                                         \
      *sweeps = handles<Name##Info>().get(info).results(context).sweeps;                                  \
    });                                                                                                   \
  }
LOCKSTEP_JACOBI(Syevj, syevj)
LOCKSTEP_JACOBI(Gesvdj, gesvdj)

}  // namespace lockstep::libraries::solver
