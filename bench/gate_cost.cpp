// What it costs to share a window: the gate (sim/gate.hpp) is opened, items without work are handed out as
// the engine hands out domains, and all threads meet again. Prints a line for each number of threads:
// threads, microseconds a window. Then "further" and the microseconds that one more thread can add: what it
// does to the gate's counters is in line with all others, so it is what coming in and leaving takes when
// cores contend for them; its items are beside them. For bench/scaling.
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

using Clock = std::chrono::steady_clock;

constexpr std::size_t kItems = 112;  // domains of a V100
constexpr unsigned kBatch = 100,
                   kBatches = 400;  // the fastest batch counts: other programs disturb the others

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

struct Team {
  explicit Team(unsigned threads) : gate(threads - 1), shares(threads) {}
  struct alignas(64) Share {
    std::atomic<std::size_t> next{0};
    std::size_t end = 0;
  };
  lockstep::sim::Gate gate;
  std::vector<Share> shares;
  std::atomic<bool> finished{false};

  void hand_out(unsigned thread) {
    for (std::size_t t = 0; t < shares.size(); ++t) {
      Share& from = shares[(thread + t) % shares.size()];
      if (from.next.load(std::memory_order_relaxed) >= from.end) continue;
      while (from.next.fetch_add(1, std::memory_order_relaxed) < from.end) {
      }
    }
  }
  void work(unsigned thread) {
    for (std::uint32_t seen = 0;;) {
      seen = gate.wait(seen);
      if (finished.load(std::memory_order_relaxed)) return;
      if (!gate.enter()) continue;
      hand_out(thread);
      gate.leave();
    }
  }
  void window() {
    for (std::size_t t = 0; t < shares.size(); ++t) {
      shares[t].next.store(kItems * t / shares.size(), std::memory_order_relaxed);
      shares[t].end = kItems * (t + 1) / shares.size();
    }
    gate.open();
    hand_out(0);
    gate.close(true);
  }
};

double microseconds_a_window(unsigned threads) {
  Team team(threads);
  std::vector<std::thread> workers;
  for (unsigned t = 1; t < threads; ++t) workers.emplace_back([&team, t] { team.work(t); });
  double fastest = std::numeric_limits<double>::max();
  for (unsigned batch = 0; batch < kBatches; ++batch) {
    const auto start = Clock::now();
    for (unsigned i = 0; i < kBatch; ++i) team.window();
    fastest = std::min(fastest, microseconds_since(start));
  }
  team.finished = true;
  team.gate.wake();
  for (std::thread& worker : workers) worker.join();
  return fastest / kBatch;
}

/// Two threads come in and leave as fast as they can.
double microseconds_of_one_more() {
  lockstep::sim::Gate gate(2);
  gate.open();
  std::atomic<unsigned> there{0};
  const auto pass = [&](unsigned batch) {
    there.fetch_add(1);
    while (there.load() < 2 * (batch + 1)) {
    }
    for (unsigned i = 0; i < kBatch; ++i)
      if (gate.enter()) gate.leave();
  };
  std::thread other([&] {
    for (unsigned batch = 0; batch < kBatches; ++batch) pass(batch);
  });
  std::vector<double> times;
  for (unsigned batch = 0; batch < kBatches; ++batch) {
    const auto start = Clock::now();
    pass(batch);
    times.push_back(microseconds_since(start));
  }
  other.join();
  std::nth_element(times.begin(), times.begin() + kBatches / 2, times.end());
  return times[kBatches / 2] / (2 * kBatch);
}

}  // namespace

int main(int argc, char** argv) {
  const int most = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(std::thread::hardware_concurrency());
  for (int threads = 1; threads <= most; ++threads)
    std::printf("%d %.3f\n", threads, microseconds_a_window(static_cast<unsigned>(threads)));
  if (most > 1) std::printf("further %.3f\n", microseconds_of_one_more());
}
