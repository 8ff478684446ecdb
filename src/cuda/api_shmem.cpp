// What the host side of include/lockstep/shmem.cuh finds by name.
#include <algorithm>
#include <cstring>
#include <exception>
#include <string_view>

#include "cuda/program_clock.hpp"
#include "cuda/runtime.hpp"
#include "lockstep/shmem/layout.h"
#include "util/error.hpp"

namespace {

using namespace lockstep;

void put_message(std::string_view text, char* message, std::size_t size) {
  if (message == nullptr || size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(message, text.data(), length);
  message[length] = '\0';
}

/// As cuda::api(), with a text for what goes wrong.
template <class Body>
int shmem_api(char* message, std::size_t size, Body&& body) noexcept {
  try {
    cuda::Runtime& runtime = cuda::Runtime::instance();
    const cuda::ClockReader ours(cuda::ClockScope::kRuntime);
    const cuda::Turns::Call turn(runtime.turns);
    const cuda::CallWatchdog::Call call(runtime.watchdog);
    const std::scoped_lock lock(runtime.mutex);
    body(runtime);
    return 0;
  } catch (const std::exception& e) {
    put_message(e.what(), message, size);
    return 1;
  }
}

}  // namespace

#define LOCKSTEP_SHMEM_API extern "C" __attribute__((visibility("default"))) int

LOCKSTEP_SHMEM_API lockstep_shmem_attach(const shmem::World* world, char* message, std::size_t size) {
  return shmem_api(message, size, [&](cuda::Runtime& runtime) { runtime.kernels.attach(*world); });
}

LOCKSTEP_SHMEM_API lockstep_shmem_task(const shmem::HostTask* task, void* stream, char* message,
                                       std::size_t size) {
  return shmem_api(message, size, [&](cuda::Runtime& runtime) {
    const auto handle = static_cast<cuda::abi::Stream>(stream);
    const cuda::StreamState& state = runtime.streams.stream(handle);
    if (state.capture != nullptr)
      throw UserError("shmem: a task of a process cannot be captured into a graph");
    const unsigned device = state.device;
    runtime.submit(
        handle, cuda::ProcessTask{runtime.kernels.messages().check(*task, device), task->call, task->data});
  });
}

LOCKSTEP_SHMEM_API lockstep_shmem_detach(char* message, std::size_t size) {
  return shmem_api(message, size, [](cuda::Runtime& runtime) { runtime.kernels.agent().detach(); });
}
