#include "cuda/host_time.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

#include "trace/host_task.hpp"
#include "util/types.hpp"

namespace lockstep::cuda {
namespace {

struct ThreadTime {
  bool is_measured = false;
  unsigned depth = 0;             // calls that it is in
  std::uint64_t since_ns = 0;     // of its CPU time: end of the last call
  std::uint64_t computed_ns = 0;  // not taken
  double factor = 1;
  std::uint64_t left_ps = 0;  // taken, but for what one task may have
};
thread_local ThreadTime own_time;
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
  own_time = {.is_measured = true, .depth = 1, .factor = factor};
  measures_ = true;
}

void HostTime::entered() {
  if (!own_time.is_measured || own_time.depth++ > 0) return;
  const std::uint64_t computed = cpu_ns() - own_time.since_ns;
  own_time.computed_ns += computed - std::min(computed, reading_ns);
}

void HostTime::left() {
  if (!own_time.is_measured || own_time.depth == 0 || --own_time.depth > 0) return;
  own_time.since_ns = cpu_ns();
}

std::uint64_t HostTime::taken() {
  if (!own_time.is_measured) return 0;
  own_time.left_ps += static_cast<std::uint64_t>(static_cast<double>(std::exchange(own_time.computed_ns, 0)) *
                                                 kPsOfNs * own_time.factor);
  const std::uint64_t ps = std::min(own_time.left_ps, trace::kMaxElapsedPs);
  own_time.left_ps -= ps;
  return ps;
}

}  // namespace lockstep::cuda
