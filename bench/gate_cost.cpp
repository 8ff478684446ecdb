// What it costs to share a window: the gate (sim/gate.hpp) is opened, items without work are handed out as
// the engine hands out domains, and all threads meet again. Prints a line for each number of threads:
// threads, microseconds a window. For bench/scaling.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>
#include <vector>

#include "sim/gate.hpp"

namespace {

constexpr std::size_t kItems = 112;  // domains of a V100
constexpr unsigned kBatch = 100,
                   kBatches = 400;  // the fastest batch counts: other programs disturb the others

struct Team {
  explicit Team(unsigned workers) : gate(workers) {}
  lockstep::sim::Gate gate;
  alignas(64) std::atomic<std::size_t> next{0};
  std::atomic<bool> finished{false};

  void hand_out() {
    while (next.fetch_add(1, std::memory_order_relaxed) < kItems) {
    }
  }
  void work() {
    for (std::uint32_t seen = 0;;) {
      seen = gate.wait(seen);
      if (finished.load(std::memory_order_relaxed)) return;
      if (!gate.enter()) continue;
      hand_out();
      gate.leave();
    }
  }
  void window() {
    next.store(0, std::memory_order_relaxed);
    gate.open();
    hand_out();
    gate.close(true);
  }
};

double microseconds_a_window(unsigned threads) {
  using Clock = std::chrono::steady_clock;
  Team team(threads - 1);
  std::vector<std::thread> workers;
  for (unsigned t = 1; t < threads; ++t) workers.emplace_back([&team] { team.work(); });
  double fastest = std::numeric_limits<double>::max();
  for (unsigned batch = 0; batch < kBatches; ++batch) {
    const auto start = Clock::now();
    for (unsigned i = 0; i < kBatch; ++i) team.window();
    fastest = std::min(fastest, std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  team.finished = true;
  team.gate.wake();
  for (std::thread& worker : workers) worker.join();
  return fastest / kBatch;
}

}  // namespace

int main(int argc, char** argv) {
  const int most = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(std::thread::hardware_concurrency());
  for (int threads = 1; threads <= most; ++threads)
    std::printf("%d %.3f\n", threads, microseconds_a_window(static_cast<unsigned>(threads)));
}
