// What the files of entries share.
#pragma once

#include <memory>

#include "libraries/common/error.hpp"
#include "libraries/fft/plan.hpp"

namespace lockstep::libraries::fft {

[[nodiscard]] inline Status status_of(Failure failure) {
  switch (failure) {
    case Failure::kNotInitialized:
      return kInvalidPlan;
    case Failure::kInvalidValue:
      return kInvalidValue;
    case Failure::kAllocation:
      return kAllocFailed;
    case Failure::kExecution:
      return kExecFailed;
    default:
      return kNotSupported;
  }
}

template <class Body>
Status entry(Body&& body) {
  Status refused = kSuccess;
  const Status status = guarded(&status_of, [&] {
    try {
      body();
    } catch (const Refused& reason) {
      refused = reason.status;
    }
  });
  return status != kSuccess ? status : refused;
}

[[nodiscard]] Handle new_plan();
/// Throws Refused where there is none.
[[nodiscard]] std::shared_ptr<Plan> plan_of(Handle handle);
void drop_plan(Handle handle);

[[nodiscard]] Request request_1d(long long n, int type, long long batch);
[[nodiscard]] Request request_2d(long long nx, long long ny, int type);
[[nodiscard]] Request request_3d(long long nx, long long ny, long long nz, int type);

/// As cufftPlanMany's arguments are, of either width.
template <class Integer>
struct Many {
  int rank;
  const Integer* n;
  const Integer* in_embed;
  Integer in_stride, in_distance;
  const Integer* out_embed;
  Integer out_stride, out_distance;
  int type;
  Integer batch;

  [[nodiscard]] Request request() const {
    if (rank < 1 || rank > 3 || n == nullptr) throw Refused{kInvalidValue};
    Request result;
    result.rank = rank;
    result.type = type;
    result.batch = batch;
    result.default_layout = in_embed == nullptr || out_embed == nullptr;
    for (int d = 0; d < rank; ++d) {
      result.n[d] = n[d];
      if (result.default_layout) continue;
      result.in_embed[d] = in_embed[d];
      result.out_embed[d] = out_embed[d];
    }
    result.in_stride = in_stride;
    result.in_distance = in_distance;
    result.out_stride = out_stride;
    result.out_distance = out_distance;
    return result;
  }
};

}  // namespace lockstep::libraries::fft

#define LOCKSTEP_FFT_API extern "C" __attribute__((visibility("default"))) lockstep::libraries::fft::Status
