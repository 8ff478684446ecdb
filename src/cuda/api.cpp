#include "cuda/api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "exec/fault.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {

namespace {
thread_local Status last_error = Status::kSuccess;

void report(const std::string& what) { print_err("lockstep: {}\n", what); }
}  // namespace

int finish(Status status) noexcept {
  if (status != Status::kErrorNotReady) last_error = status;
  return static_cast<int>(status);
}

int finish_exception() noexcept {
  try {
    throw;
  } catch (const ApiError& e) {
    if (e.reported()) report(e.what());
    return finish(e.status());
  } catch (const exec::DeviceFault& e) {
    report(e.what());
    return finish(fault_status(e.kind()));
  } catch (const std::bad_alloc&) {
    return finish(Status::kErrorMemoryAllocation);
  } catch (const std::exception& e) {
    report(e.what());
    return finish(Status::kErrorUnknown);
  }
}

bool is_cuda_12() {
  static const bool found = [] {
    Dl_info here{};
    return dladdr(reinterpret_cast<void*>(&peek_last_error), &here) != 0 &&
           std::string_view(here.dli_fname).ends_with(".so.12");
  }();
  return found;
}

Status peek_last_error() { return last_error; }

Status take_last_error() {
  const Status status = last_error;
  last_error = Status::kSuccess;
  return status;
}

LOCKSTEP_CUDA_API cudaPeekAtLastError() { return static_cast<int>(peek_last_error()); }
LOCKSTEP_CUDA_API cudaGetLastError() { return static_cast<int>(take_last_error()); }

extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorName(int status) {
  return status_name(static_cast<Status>(status));
}
extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorString(int status) {
  return status_text(static_cast<Status>(status));
}

}  // namespace lockstep::cuda
