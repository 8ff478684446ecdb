#include "libraries/fft/entries.hpp"

#include <dlfcn.h>

#include <string_view>
#include <unordered_map>

namespace lockstep::libraries::fft {
namespace {

struct Plans {
  std::mutex mutex;
  std::unordered_map<Handle, std::shared_ptr<Plan>> live;
  Handle next = 1;
};

/// Never destroyed: programs free their plans at any time.
Plans& plans() {
  static auto& all = *new Plans;
  return all;
}

Request request_of(int rank, int type) {
  Request request;
  request.rank = rank;
  request.type = type;
  return request;
}

/// By which name the program has loaded this library.
bool for_cuda_12() {
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(&for_cuda_12), &own);
  return own.dli_fname != nullptr && std::string_view(own.dli_fname).ends_with(".so.11");
}

int major_version() { return for_cuda_12() ? 11 : 12; }

}  // namespace

Handle new_plan() {
  Plans& all = plans();
  auto plan = std::make_shared<Plan>();
  const std::lock_guard lock(all.mutex);
  all.live.emplace(all.next, std::move(plan));
  return all.next++;
}

std::shared_ptr<Plan> plan_of(Handle handle) {
  Plans& all = plans();
  const std::lock_guard lock(all.mutex);
  const auto found = all.live.find(handle);
  if (found == all.live.end()) throw Refused{kInvalidPlan};
  return found->second;
}

void drop_plan(Handle handle) {
  const auto last = plan_of(handle);  // freed after the lock
  Plans& all = plans();
  const std::lock_guard lock(all.mutex);
  all.live.erase(handle);
}

Request request_1d(long long n, int type, long long batch) {
  Request request = request_of(1, type);
  request.n[0] = n;
  request.batch = batch;
  return request;
}

Request request_2d(long long nx, long long ny, int type) {
  Request request = request_of(2, type);
  request.n[0] = nx;
  request.n[1] = ny;
  return request;
}

Request request_3d(long long nx, long long ny, long long nz, int type) {
  Request request = request_of(3, type);
  request.n[0] = nx;
  request.n[1] = ny;
  request.n[2] = nz;
  return request;
}

LOCKSTEP_FFT_API cufftCreate(Handle* handle) {
  return entry([&] {
    if (handle == nullptr) throw Refused{kInvalidValue};
    *handle = new_plan();
  });
}
LOCKSTEP_FFT_API cufftDestroy(Handle handle) {
  return entry([&] { drop_plan(handle); });
}
LOCKSTEP_FFT_API cufftSetStream(Handle handle, Stream stream) {
  return entry([&] { plan_of(handle)->set_stream(stream); });
}
LOCKSTEP_FFT_API cufftSetWorkArea(Handle handle, void* area) {
  return entry([&] { plan_of(handle)->set_work_area(area); });
}
LOCKSTEP_FFT_API cufftSetAutoAllocation(Handle handle, int automatic) {
  return entry([&] { plan_of(handle)->set_auto_allocation(automatic != 0); });
}

LOCKSTEP_FFT_API cufftExecC2C(Handle handle, void* in, void* out, int direction) {
  return entry([&] { plan_of(handle)->execute(kC2C, in, out, direction); });
}
LOCKSTEP_FFT_API cufftExecR2C(Handle handle, void* in, void* out) {
  return entry([&] { plan_of(handle)->execute(kR2C, in, out, kForward); });
}
LOCKSTEP_FFT_API cufftExecC2R(Handle handle, void* in, void* out) {
  return entry([&] { plan_of(handle)->execute(kC2R, in, out, kInverse); });
}
LOCKSTEP_FFT_API cufftExecZ2Z(Handle handle, void* in, void* out, int direction) {
  return entry([&] { plan_of(handle)->execute(kZ2Z, in, out, direction); });
}
LOCKSTEP_FFT_API cufftExecD2Z(Handle handle, void* in, void* out) {
  return entry([&] { plan_of(handle)->execute(kD2Z, in, out, kForward); });
}
LOCKSTEP_FFT_API cufftExecZ2D(Handle handle, void* in, void* out) {
  return entry([&] { plan_of(handle)->execute(kZ2D, in, out, kInverse); });
}

LOCKSTEP_FFT_API cufftGetVersion(int* version) {
  return entry([&] {
    if (version == nullptr) throw Refused{kInvalidValue};
    *version = 1000 * major_version();
  });
}
LOCKSTEP_FFT_API cufftGetProperty(int property, int* value) {
  return entry([&] {
    if (value == nullptr || property < 0 || property > 2) throw Refused{kInvalidValue};
    *value = property == 0 ? major_version() : 0;
  });
}

}  // namespace lockstep::libraries::fft
