// What every function of the runtime's C interface does around its body.
#pragma once

#include "cuda/program_clock.hpp"
#include "cuda/runtime.hpp"

#define LOCKSTEP_CUDA_API extern "C" __attribute__((visibility("default"))) int

namespace lockstep::cuda {

/// Remembers `status` as the calling thread's last error and gives it as the C result.
int finish(Status status) noexcept;
/// The result of the exception that is being handled: shows the user what ApiError, DeviceFault and UserError
/// have to say.
int finish_exception() noexcept;

Status peek_last_error();
Status take_last_error();

/// Runs `body(runtime)` alone in the process. Exceptions become results; after a fault nothing runs any more
/// on the thread's device.
template <class Body>
int api(Body&& body) noexcept {
  Runtime* runtime = nullptr;
  const ClockReader ours(ClockScope::kRuntime);
  try {
    runtime = &Runtime::instance();
    const Turns::Call turn(runtime->turns);
    const CallWatchdog::Call call(runtime->watchdog);
    const std::scoped_lock lock(runtime->mutex);
    if (const Status sticky = runtime->devices.current().sticky; sticky != Status::kSuccess)
      return finish(sticky);
    body(*runtime);
    return static_cast<int>(Status::kSuccess);
  } catch (...) {
    return finish_exception();
  }
}

/// Is this library the one that programs for CUDA 12 load? Some functions have other parameters there.
[[nodiscard]] bool is_cuda_12();

/// What several processes of a program share is executed, not simulated: throws ApiError(NotSupported)
/// otherwise.
void require_functional(const Runtime& rt);

}  // namespace lockstep::cuda
