// What it costs to share a window: the gate (sim/gate.hpp) is opened, items without work are handed out as
// the engine hands out domains, and all threads meet again. Prints a line for each number of threads:
// threads, microseconds a window. Then "further" and the microseconds that one more thread adds: it comes in
// and leaves beside the others; its items and its place in the gate are lines that the leader has to fetch.
// For bench/scaling.
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
    while (take(shares[thread])) continue;
    for (std::size_t t; (t = fullest(thread)) < shares.size();) take(shares[t]);
  }
  static bool take(Share& from) { return from.next.fetch_add(1, std::memory_order_relaxed) < from.end; }
  [[nodiscard]] std::size_t fullest(std::size_t thread) const {
    std::size_t found = shares.size(), most = 0;
    for (std::size_t k = 1; k < shares.size(); ++k) {
      const std::size_t t = (thread + k) % shares.size();
      const std::size_t next = shares[t].next.load(std::memory_order_relaxed), end = shares[t].end;
      if (next >= end || end - next <= most) continue;
      most = end - next;
      found = t;
    }
    return found;
  }
  void work(unsigned thread) {
    for (std::uint32_t seen = 0;;) {
      seen = gate.wait(seen);
      if (finished.load(std::memory_order_relaxed)) return;
      if (!gate.enter(thread - 1, seen)) continue;
      hand_out(thread);
      gate.leave(thread - 1, seen);
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

/// The leader's time to find that others have taken all items of a window, and to close it.
double microseconds_to_end(unsigned workers) {
  Team team(workers + 1);
  std::atomic<unsigned> turn{0};  // odd: the other thread's, which plays all workers
  std::thread other([&] {
    for (std::uint32_t generation = 1; generation <= kBatches; ++generation) {
      while (turn.load() != 2 * generation - 1) {
      }
      for (unsigned w = 0; w < workers; ++w) {
        if (!team.gate.enter(w, generation)) continue;
        team.shares[w + 1].next.store(1, std::memory_order_relaxed);
        team.gate.leave(w, generation);
      }
      turn.fetch_add(1);
    }
  });
  std::vector<double> times;
  for (std::uint32_t generation = 1; generation <= kBatches; ++generation) {
    for (auto& share : team.shares) share.next.store(0, std::memory_order_relaxed);
    team.gate.open();
    turn.fetch_add(1);
    while (turn.load() != 2 * generation) {
    }
    const auto start = Clock::now();
    team.hand_out(0);
    team.gate.close(true);
    times.push_back(microseconds_since(start));
  }
  other.join();
  std::nth_element(times.begin(), times.begin() + kBatches / 2, times.end());
  return times[kBatches / 2];
}

double microseconds_of_one_more() {
  constexpr unsigned kFew = 1, kMany = 17;
  return (microseconds_to_end(kMany) - microseconds_to_end(kFew)) / (kMany - kFew);
}

}  // namespace

int main(int argc, char** argv) {
  const int most = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(std::thread::hardware_concurrency());
  for (int threads = 1; threads <= most; ++threads)
    std::printf("%d %.3f\n", threads, microseconds_a_window(static_cast<unsigned>(threads)));
  if (most > 1) std::printf("further %.3f\n", microseconds_of_one_more());
}
