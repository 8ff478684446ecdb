#include "cuda/interrupt.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "util/console.hpp"
#include "util/signals.hpp"

namespace lockstep::cuda {

namespace {

std::atomic<bool> signal_seen{false}, kernels_running{false};
std::atomic<int> which{0};
static_assert(std::atomic<bool>::is_always_lock_free, "the handler may only touch lock-free atomics");

void die(int number) {
  ::signal(number, SIG_DFL);
  ::raise(number);
}

extern "C" void on_signal(int number) {
  which.store(number);
  if (!kernels_running.load()) return die(number);
  if (signal_seen.exchange(true)) die(number);  // once more
}

}  // namespace

void watch_interrupts() {
  for (const int number : kEndingSignals) {
    struct sigaction now {};
    ::sigaction(number, nullptr, &now);
    if (now.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART | SA_NODEFER;
    ::sigaction(number, &action, nullptr);
  }
}

const std::atomic<bool>* interrupt_flag() { return &signal_seen; }

KernelRuns::KernelRuns() { kernels_running = true; }
KernelRuns::~KernelRuns() {
  kernels_running = false;
  if (signal_seen) die(which);
}

void end_interrupted(const std::string& name, const std::string& dump) {
  print_err("lockstep: stopped in kernel {}; its warps stand at\n{}", name, dump);
  std::fflush(nullptr);
  die(which);
  ::_exit(1);
}

}  // namespace lockstep::cuda
