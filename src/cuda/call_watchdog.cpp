#include "cuda/call_watchdog.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

#include "cuda/program_clock.hpp"
#include "util/console.hpp"

namespace lockstep::cuda {

namespace {

// Host time. Assumed: programs that compute between calls take less.
constexpr std::chrono::seconds kPatience{3};
constexpr unsigned kChecks = 12;  // in that time: a call starts it again within a twelfth of it

}  // namespace

struct CallWatchdog::State {
  std::mutex mutex;  // of all but the atomic ones, and for changes of `threads`
  std::condition_variable changed;
  bool watching = false, warned = false;
  std::string kernel;
  std::atomic<std::uint64_t> calls{0};
  std::atomic<unsigned> inside{0}, threads{0};
};

CallWatchdog::CallWatchdog() : state_(std::make_shared<State>()) {}
CallWatchdog::~CallWatchdog() { end(); }

void CallWatchdog::begin(const std::string& kernel) {
  const std::scoped_lock lock(state_->mutex);
  state_->kernel = kernel;
  if (state_->warned || std::exchange(state_->watching, true)) return;
  if (state_->threads > 0) return;  // it has not yet seen that there was an end
  ++state_->threads;
  std::thread(watch, state_).detach();
}

void CallWatchdog::end() {
  const std::scoped_lock lock(state_->mutex);
  state_->watching = false;
  state_->changed.notify_all();
}

bool CallWatchdog::has_other_threads() const {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return std::distance(std::filesystem::begin(all), std::filesystem::end(all)) >
         1 + std::ptrdiff_t{state_->threads};
}

void CallWatchdog::watch(const std::shared_ptr<State>& state) {
  const ClockReader ours(ClockScope::kRuntime);
  std::unique_lock lock(state->mutex);
  constexpr auto kPause = std::chrono::milliseconds(kPatience) / kChecks;
  std::uint64_t seen = state->calls;
  unsigned quiet = 0;  // checks since the last call
  while (!state->changed.wait_for(lock, kPause, [&] { return !state->watching; })) {
    const std::uint64_t now = state->calls;
    quiet = now == seen && state->inside == 0 ? quiet + 1 : 0;
    if (quiet == kChecks) {
      print_err(
          "lockstep: warning: kernel {} waits for a write by the program, which has made no CUDA call "
          "for {} seconds; it continues in the next call that waits or queries, such as cudaStreamQuery\n",
          state->kernel, kPatience.count());
      state->warned = true;
      state->watching = false;
      break;
    }
    seen = now;
  }
  --state->threads;
}

CallWatchdog::Call::Call(CallWatchdog& watchdog) : watchdog_(watchdog) {
  ++watchdog_.state_->calls;
  ++watchdog_.state_->inside;
}
CallWatchdog::Call::~Call() { --watchdog_.state_->inside; }

}  // namespace lockstep::cuda
