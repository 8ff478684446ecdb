#include "libraries/fft/entries.hpp"

namespace lockstep::libraries::fft {
namespace {

/// A plan that is made at once: there is no handle where that fails.
template <class MakeRequest>
Status new_plan_of(Handle* handle, MakeRequest&& make_request) {
  return entry([&] {
    if (handle == nullptr) throw Refused{kInvalidValue};
    const Handle made = new_plan();
    try {
      plan_of(made)->make(make_request());
    } catch (...) {
      drop_plan(made);
      throw;
    }
    *handle = made;
  });
}

template <class MakeRequest>
Status make_plan(Handle handle, std::size_t* bytes, MakeRequest&& make_request) {
  return entry([&] {
    const auto plan = plan_of(handle);
    plan->make(make_request());
    if (bytes != nullptr) *bytes = plan->work_bytes();
  });
}

template <class MakeRequest>
Status estimate(std::size_t* bytes, MakeRequest&& make_request) {
  return entry([&] {
    if (bytes == nullptr) throw Refused{kInvalidValue};
    *bytes = Schedules(make_request()).work_bytes();
  });
}

template <class MakeRequest>
Status size_of(Handle handle, std::size_t* bytes, MakeRequest&& make_request) {
  return entry([&] {
    const auto plan = plan_of(handle);
    if (bytes == nullptr) throw Refused{kInvalidValue};
    *bytes = Schedules(make_request()).work_bytes();
  });
}

}  // namespace

LOCKSTEP_FFT_API cufftPlan1d(Handle* handle, int nx, int type, int batch) {
  return new_plan_of(handle, [&] { return request_1d(nx, type, batch); });
}
LOCKSTEP_FFT_API cufftPlan2d(Handle* handle, int nx, int ny, int type) {
  return new_plan_of(handle, [&] { return request_2d(nx, ny, type); });
}
LOCKSTEP_FFT_API cufftPlan3d(Handle* handle, int nx, int ny, int nz, int type) {
  return new_plan_of(handle, [&] { return request_3d(nx, ny, nz, type); });
}
LOCKSTEP_FFT_API cufftPlanMany(Handle* handle, int rank, int* n, int* inembed, int istride, int idist,
                               int* onembed, int ostride, int odist, int type, int batch) {
  const Many<int> many{rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch};
  return new_plan_of(handle, [&] { return many.request(); });
}

LOCKSTEP_FFT_API cufftMakePlan1d(Handle handle, int nx, int type, int batch, std::size_t* bytes) {
  return make_plan(handle, bytes, [&] { return request_1d(nx, type, batch); });
}
LOCKSTEP_FFT_API cufftMakePlan2d(Handle handle, int nx, int ny, int type, std::size_t* bytes) {
  return make_plan(handle, bytes, [&] { return request_2d(nx, ny, type); });
}
LOCKSTEP_FFT_API cufftMakePlan3d(Handle handle, int nx, int ny, int nz, int type, std::size_t* bytes) {
  return make_plan(handle, bytes, [&] { return request_3d(nx, ny, nz, type); });
}
LOCKSTEP_FFT_API cufftMakePlanMany(Handle handle, int rank, int* n, int* inembed, int istride, int idist,
                                   int* onembed, int ostride, int odist, int type, int batch,
                                   std::size_t* bytes) {
  const Many<int> many{rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch};
  return make_plan(handle, bytes, [&] { return many.request(); });
}
LOCKSTEP_FFT_API cufftMakePlanMany64(Handle handle, int rank, long long* n, long long* inembed,
                                     long long istride, long long idist, long long* onembed,
                                     long long ostride, long long odist, int type, long long batch,
                                     std::size_t* bytes) {
  const Many<long long> many{rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch};
  return make_plan(handle, bytes, [&] { return many.request(); });
}

LOCKSTEP_FFT_API cufftEstimate1d(int nx, int type, int batch, std::size_t* bytes) {
  return estimate(bytes, [&] { return request_1d(nx, type, batch); });
}
LOCKSTEP_FFT_API cufftEstimate2d(int nx, int ny, int type, std::size_t* bytes) {
  return estimate(bytes, [&] { return request_2d(nx, ny, type); });
}
LOCKSTEP_FFT_API cufftEstimate3d(int nx, int ny, int nz, int type, std::size_t* bytes) {
  return estimate(bytes, [&] { return request_3d(nx, ny, nz, type); });
}
LOCKSTEP_FFT_API cufftEstimateMany(int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                                   int ostride, int odist, int type, int batch, std::size_t* bytes) {
  const Many<int> many{rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch};
  return estimate(bytes, [&] { return many.request(); });
}

LOCKSTEP_FFT_API cufftGetSize1d(Handle handle, int nx, int type, int batch, std::size_t* bytes) {
  return size_of(handle, bytes, [&] { return request_1d(nx, type, batch); });
}
LOCKSTEP_FFT_API cufftGetSize2d(Handle handle, int nx, int ny, int type, std::size_t* bytes) {
  return size_of(handle, bytes, [&] { return request_2d(nx, ny, type); });
}
LOCKSTEP_FFT_API cufftGetSize3d(Handle handle, int nx, int ny, int nz, int type, std::size_t* bytes) {
  return size_of(handle, bytes, [&] { return request_3d(nx, ny, nz, type); });
}
LOCKSTEP_FFT_API cufftGetSizeMany(Handle handle, int rank, int* n, int* inembed, int istride, int idist,
                                  int* onembed, int ostride, int odist, int type, int batch,
                                  std::size_t* bytes) {
  const Many<int> many{rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch};
  return size_of(handle, bytes, [&] { return many.request(); });
}
LOCKSTEP_FFT_API cufftGetSizeMany64(Handle handle, int rank, long long* n, long long* inembed,
                                    long long istride, long long idist, long long* onembed, long long ostride,
                                    long long odist, int type, long long batch, std::size_t* bytes) {
  const Many<long long> many{rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch};
  return size_of(handle, bytes, [&] { return many.request(); });
}
LOCKSTEP_FFT_API cufftGetSize(Handle handle, std::size_t* bytes) {
  return entry([&] {
    const auto plan = plan_of(handle);
    if (bytes == nullptr) throw Refused{kInvalidValue};
    *bytes = plan->work_bytes();
  });
}

}  // namespace lockstep::libraries::fft
