// Types that programs share with cuSOLVER, and what a handle is.
#pragma once

#include "libraries/blas/factor.hpp"
#include "libraries/common/handles.hpp"

namespace lockstep::libraries::solver {

enum Status : int {
  kStatusSuccess = 0,
  kStatusNotInitialized = 1,
  kStatusAllocationFailed = 2,
  kStatusInvalidValue = 3,
  kStatusExecutionFailed = 6,
  kStatusInternalError = 7,
  kStatusNotSupported = 9,
};

[[nodiscard]] inline Status status_of(Failure failure) {
  switch (failure) {
    case Failure::kNotInitialized:
      return kStatusNotInitialized;
    case Failure::kInvalidValue:
      return kStatusInvalidValue;
    case Failure::kAllocation:
      return kStatusAllocationFailed;
    case Failure::kExecution:
      return kStatusExecutionFailed;
    case Failure::kNotSupported:
      return kStatusNotSupported;
  }
  return kStatusInternalError;
}

/// Device and stream are those of the products that solutions are made of; scalars are on the host.
struct Context {
  blas::Context blas;
  bool deterministic = true;
};

/// Calls `body` with what `handle` is, on its device.
template <class Body>
Status with_context(const void* handle, Body&& body) {
  return guarded(&status_of, [&] {
    Context& context = handles<Context>().get(handle);
    const OnDevice on(context.blas.device);
    body(context);
  });
}

}  // namespace lockstep::libraries::solver

/// Declares and defines an entry of the library.
#define LOCKSTEP_SOLVER_API \
  extern "C" __attribute__((visibility("default"))) lockstep::libraries::solver::Status
