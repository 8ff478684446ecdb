#include "cli/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "util/signals.hpp"

namespace lockstep::cli {
namespace {

std::atomic<int> seen{0};  // the first signal
static_assert(std::atomic<int>::is_always_lock_free, "the handler may only touch lock-free atomics");

extern "C" void on_interrupt(int number) {
  const int error = errno;
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  int none = 0;
  if (!seen.compare_exchange_strong(none, number)) return;
  constexpr char kText[] = "\nlockstep: stopping, results so far are kept; once more kills\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof kText - 1);
  errno = error;
}

}  // namespace

void catch_interrupts() {
  for (const int number : kEndingSignals) {
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

bool interrupted() { return seen.load(std::memory_order_relaxed) != 0; }

int signal_to_pass_on() { return seen.load() == SIGINT ? SIGINT : SIGTERM; }

}  // namespace lockstep::cli
