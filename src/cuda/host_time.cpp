#include "cuda/host_time.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

#include "trace/host_task.hpp"

namespace lockstep::cuda {
namespace {

struct Thread {
  bool is_measured = false;
  unsigned depth = 0;             // calls that it is in
  std::uint64_t since_ns = 0;     // of its CPU time: end of the last call
  std::uint64_t computed_ns = 0;  // not taken
  double factor = 1;
  std::uint64_t left_ps = 0;  // taken, but for what one task may have
};
thread_local Thread thread;
std::uint64_t reading_ns = 0;  // what two reads of the clock one after another are apart

std::uint64_t cpu_ns() {
  constexpr std::uint64_t kNsOfSecond = 1'000'000'000;
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * kNsOfSecond + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t shortest_reading() {
  constexpr int kReads = 64;  // enough that some are not interrupted
  std::uint64_t least = ~std::uint64_t{0}, before = cpu_ns();
  for (int i = 0; i < kReads; ++i) {
    const std::uint64_t now = cpu_ns();
    least = std::min(least, now - std::exchange(before, now));
  }
  return least;
}

}  // namespace

bool HostTime::measures_ = false;

void HostTime::begin(double factor) {
  reading_ns = shortest_reading();
  thread = {.is_measured = true, .depth = 1, .factor = factor};
  measures_ = true;
}

void HostTime::entered() {
  if (!thread.is_measured || thread.depth++ > 0) return;
  const std::uint64_t computed = cpu_ns() - thread.since_ns;
  thread.computed_ns += computed - std::min(computed, reading_ns);
}

void HostTime::left() {
  if (!thread.is_measured || thread.depth == 0 || --thread.depth > 0) return;
  thread.since_ns = cpu_ns();
}

std::uint64_t HostTime::taken() {
  if (!thread.is_measured) return 0;
  constexpr double kPsOfNs = 1000;
  thread.left_ps += static_cast<std::uint64_t>(static_cast<double>(std::exchange(thread.computed_ns, 0)) *
                                               kPsOfNs * thread.factor);
  const std::uint64_t ps = std::min(thread.left_ps, trace::kMaxElapsedPs);
  thread.left_ps -= ps;
  return ps;
}

}  // namespace lockstep::cuda
