#include "cuda/launch_monitor.hpp"

#include <fmt/format.h>
#include <time.h>

namespace lockstep::cuda {

ProcessClock::time_point ProcessClock::now() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

LaunchMonitor::Scope::Scope(LaunchMonitor& monitor, const std::string& kernel, std::uint64_t launch,
                            std::uint64_t ctas, std::uint64_t ctas_done)
    : monitor_(monitor) {
  monitor.page_.begin(kernel, launch, ctas, ctas_done);
  const std::scoped_lock lock(monitor.mutex_);
  monitor.kernel_ = kernel;
  monitor.instructions_ = 0;
  monitor.ended_ = ctas_done;
  monitor.since_ = Clock::now();
  monitor.wait_ = monitor.patience_;
}

void LaunchMonitor::executed(const exec::RunCounts& executed, std::uint64_t ctas,
                             const std::function<std::string()>& dump) {
  page_.add(executed.warp_instructions, executed.thread_instructions, ctas);
  if (ctas != 0) return;
  const std::scoped_lock lock(mutex_);
  instructions_ += executed.warp_instructions;
  check(dump);
}

/// The clock is read once in a million instructions.
void LaunchMonitor::check(const std::function<std::string()>& dump) {
  const auto now = Clock::now();
  if (const std::uint64_t ended = page_.ctas_done(); ended != ended_) {
    ended_ = ended;
    since_ = now;
    wait_ = patience_;
    instructions_ = 0;
    return;
  }
  if (now - since_ < wait_) return;
  wait_ *= 2;
  say_(fmt::format(
      "lockstep: kernel {}: no CTA has ended for {} seconds of processor time and {:.1f} million warp "
      "instructions; if the kernel "
      "has no end, --max-instructions stops it; its warps stand at\n{}",
      kernel_, std::chrono::duration_cast<std::chrono::seconds>(now - since_).count(),
      static_cast<double>(instructions_) * 1e-6, dump()));
}

}  // namespace lockstep::cuda
