#include "cli/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "util/signals.hpp"

namespace lockstep::cli {
namespace {

std::atomic<int> seen_signal{0};  // the first signal
std::atomic<bool> takes_checkpoints{false}, announces{true};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "the handler may only touch lock-free atomics");

template <std::size_t n>
void say(const char (&text)[n]) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, n - 1);
}

extern "C" void on_interrupt(int number) {
  const int error = errno;
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  int none = 0;
  if (!seen_signal.compare_exchange_strong(none, number)) return;
  if (!announces.load(std::memory_order_relaxed)) {
    errno = error;
    return;
  }
  if (number != SIGINT && takes_checkpoints.load(std::memory_order_relaxed)) {
    say("\nlockstep: stopping after the running kernel, with a checkpoint; once more kills\n");
  } else {
    say("\nlockstep: stopping, results so far are kept; once more kills\n");
  }
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

void let_signals_ask_for_checkpoints() { takes_checkpoints = true; }

void announce_interrupts(bool announced) { announces = announced; }

bool interrupted() {
  const int number = seen_signal.load(std::memory_order_relaxed);
  return number != 0 && (number == SIGINT || !takes_checkpoints.load(std::memory_order_relaxed));
}

bool checkpoint_asked() {
  const int number = seen_signal.load(std::memory_order_relaxed);
  return number != 0 && number != SIGINT && takes_checkpoints.load(std::memory_order_relaxed);
}

int signal_to_pass_on() { return seen_signal.load() == SIGINT ? SIGINT : SIGTERM; }

}  // namespace lockstep::cli
