#include "cuda/program_clock.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <mutex>

#include "cuda/context.hpp"
#include "cuda/host_time.hpp"
#include "cuda/runtime.hpp"

namespace lockstep::cuda {

namespace {

using SetScope = ClockScope (*)(ClockScope);
using SetSource = void (*)(ClockSource);

ClockScope set_scope(ClockScope scope) {
  static const auto set = reinterpret_cast<SetScope>(::dlsym(RTLD_DEFAULT, kClockScopeName));
  return set != nullptr ? set(scope) : scope;
}

/// A read is like a call: threads take turns, and what was called before is simulated first.
std::uint64_t simulated_ns() {
  static const pid_t process = ::getpid();
  static std::uint64_t known = 0;
  const ClockReader ours(ClockScope::kRuntime);
  Runtime& runtime = Runtime::instance();
  if (::getpid() != process) return known;  // a copy of the process, which has no simulation
  const Turns::Call turn(runtime.turns);
  const std::scoped_lock lock(runtime.mutex);
  if (const auto cycle = runtime.recording.host_cycle()) {
    constexpr double kNsPerMillisecond = 1e6;
    const double ns = static_cast<double>(*cycle) * kNsPerMillisecond /
                      static_cast<double>(runtime.settings.gpu.clock.core_khz);
    known = static_cast<std::uint64_t>(ns);
  }
  return known;
}

}  // namespace

void show_simulated_time() {
  if (const auto set = reinterpret_cast<SetSource>(::dlsym(RTLD_DEFAULT, kClockSourceName)))
    set(simulated_ns);
}

ClockReader::ClockReader(ClockScope scope) : before_(set_scope(scope)) { HostTime::enter(); }
ClockReader::~ClockReader() {
  set_scope(before_);
  HostTime::leave();
}

}  // namespace lockstep::cuda
