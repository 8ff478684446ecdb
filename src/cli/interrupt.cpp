#include "cli/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace lockstep::cli {
namespace {

std::atomic<bool> seen{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the handler may only touch lock-free atomics");

extern "C" void on_interrupt(int) {
  seen.store(true);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  constexpr char kText[] = "\nlockstep: stopping, results so far are kept; once more kills\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof kText - 1);
}

}  // namespace

void catch_interrupts() {
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    if (now.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, nullptr);
  }
}

bool interrupted() { return seen.load(std::memory_order_relaxed); }

}  // namespace lockstep::cli
