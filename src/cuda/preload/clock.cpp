// Preloaded into programs with `lockstep exec --clock simulated`: their clocks show the simulation's time.
// Each read takes kReadNs, so that a loop that reads the clock comes to its end, and a sleep the time that
// was asked for (beside the real time, which other threads may need). The C library's own functions are used
// by our runtime, which says so by a scope.
#include "cuda/preload/clock.hpp"

#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "cuda/preload/replaced.hpp"

namespace {

using lockstep::cuda::ClockScope;
using lockstep::cuda::ClockSource;

constexpr std::uint64_t kReadNs = 25;                      // assumed: a call of clock_gettime
constexpr std::uint64_t kSecond = 1'000'000'000;           // ns
constexpr std::uint64_t kEpochNs = 946'684'800 * kSecond;  // the program starts on 1 January 2000, 0:00 UTC
constexpr std::uint64_t kBootNs = kSecond;                 // and a second after the machine

thread_local ClockScope scope = ClockScope::kProgram;
std::atomic<ClockSource> source = nullptr;
std::atomic<std::uint64_t> known = 0;  // the source's latest time
std::atomic<std::uint64_t> own = 0;    // reads and sleeps

/// Since the program's start, after one more read.
std::uint64_t read_ns() {
  if (const ClockSource ask = source; ask != nullptr && scope == ClockScope::kProgram) known = ask();
  return known + (own += kReadNs);
}

std::uint64_t start_of(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
      return kEpochNs;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
      return kBootNs;
    default:
      return 0;  // of processors: the host waits by polling
  }
}

timespec to_timespec(std::uint64_t ns) {
  return {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
}

std::uint64_t to_ns(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond + static_cast<std::uint64_t>(time.tv_nsec);
}

bool is_valid(const timespec* time) {
  return time != nullptr && time->tv_sec >= 0 && time->tv_nsec >= 0 &&
         time->tv_nsec < static_cast<long>(kSecond);
}

bool shows_simulated() { return scope != ClockScope::kRuntime; }

}  // namespace

LOCKSTEP_HOOK void lockstep_clock_source(ClockSource given) { source = given; }
LOCKSTEP_HOOK ClockScope lockstep_clock_scope(ClockScope given) {
  const ClockScope before = scope;
  scope = given;
  return before;
}

LOCKSTEP_HOOK int clock_gettime(clockid_t clock, timespec* time) noexcept {
  LOCKSTEP_NEXT(clock_gettime);
  if (!shows_simulated()) return original(clock, time);
  *time = to_timespec(start_of(clock) + read_ns());
  return 0;
}
LOCKSTEP_HOOK int gettimeofday(timeval* time, void* zone) noexcept {
  LOCKSTEP_NEXT(gettimeofday);
  if (!shows_simulated()) return original(time, zone);
  const timespec now = to_timespec(kEpochNs + read_ns());
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}
LOCKSTEP_HOOK time_t time(time_t* out) noexcept {
  LOCKSTEP_NEXT(time);
  if (!shows_simulated()) return original(out);
  const time_t now = to_timespec(kEpochNs + read_ns()).tv_sec;
  if (out != nullptr) *out = now;
  return now;
}
LOCKSTEP_HOOK int timespec_get(timespec* time, int base) noexcept {
  LOCKSTEP_NEXT(timespec_get);
  if (!shows_simulated() || base != TIME_UTC) return original(time, base);
  *time = to_timespec(kEpochNs + read_ns());
  return base;
}
LOCKSTEP_HOOK clock_t clock() noexcept {
  LOCKSTEP_NEXT(clock);
  return shows_simulated() ? static_cast<clock_t>(read_ns() / (kSecond / CLOCKS_PER_SEC)) : original();
}

LOCKSTEP_HOOK int nanosleep(const timespec* length, timespec* left) {
  LOCKSTEP_NEXT(nanosleep);
  if (shows_simulated() && is_valid(length)) own += to_ns(*length);
  return original(length, left);
}
LOCKSTEP_HOOK int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  LOCKSTEP_NEXT(clock_nanosleep);
  if (!shows_simulated() || !is_valid(time)) return original(clock, flags, time, left);
  std::uint64_t length = to_ns(*time);
  if ((flags & TIMER_ABSTIME) != 0) {
    const std::uint64_t now = start_of(clock) + read_ns();
    length = length > now ? length - now : 0;
  }
  const timespec relative = to_timespec(length);
  return nanosleep(&relative, left) == 0 ? 0 : errno;
}
LOCKSTEP_HOOK int usleep(useconds_t microseconds) {
  const timespec length = to_timespec(std::uint64_t{microseconds} * 1000);
  return nanosleep(&length, nullptr);
}
LOCKSTEP_HOOK unsigned sleep(unsigned seconds) {
  const timespec length = to_timespec(std::uint64_t{seconds} * kSecond);
  timespec left{};
  return nanosleep(&length, &left) == 0 ? 0 : static_cast<unsigned>(left.tv_sec);
}
