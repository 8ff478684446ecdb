// The engine's barrier: lets everybody through once a window, and does not burn a core while it waits.
#include "sim/gate.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

namespace lockstep::sim {
namespace {

double process_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

TEST_CASE("each worker passes the gate once a window, after what the leader wrote and before it goes on") {
  constexpr unsigned kWorkers = 3;
  constexpr int kWindows = 2000;
  Gate gate(kWorkers);
  int written = 0;  // by the leader, between windows
  std::vector<int> seen(kWorkers);
  std::vector<std::thread> workers;
  for (unsigned w = 0; w < kWorkers; ++w)
    workers.emplace_back([&, w] {
      std::uint32_t generation = 0;
      for (int i = 0; i < kWindows; ++i) {
        generation = gate.wait(generation);
        if (gate.enter(w, generation)) {
          seen[w] += written == i + 1;
          gate.leave(w, generation);
        }
      }
    });
  for (int i = 0; i < kWindows; ++i) {
    written = i + 1;
    gate.open();
    gate.close(true);
  }
  for (auto& worker : workers) worker.join();
  for (const int n : seen) CHECK(n == kWindows);
}

TEST_CASE("the leader does not wait for a worker that does not come, only for those inside") {
  Gate gate(2);
  gate.open();
  REQUIRE(gate.wait(0) == 1);
  CHECK(gate.enter(1, 1));  // as a worker would
  std::atomic<bool> closed{false};
  std::thread leader([&] {
    gate.close(false);
    closed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_FALSE(closed);
  gate.leave(1, 1);
  leader.join();  // the other worker never came
  CHECK_FALSE(gate.enter(0, 1));
  gate.open();
  CHECK_FALSE(gate.enter(0, 1));  // one that is a window late
  CHECK(gate.enter(1, 2));
  gate.leave(1, 2);
  gate.close(false);
}

TEST_CASE("whoever the leader lets in has left when it goes on") {
  constexpr unsigned kWorkers = 3;
  Gate gate(kWorkers);
  std::atomic<unsigned> inside{0};
  std::atomic<bool> end{false};
  std::vector<std::thread> workers;
  for (unsigned w = 0; w < kWorkers; ++w)
    workers.emplace_back([&, w] {
      for (std::uint32_t generation = 0;;) {
        generation = gate.wait(generation);
        if (end) return;
        if (!gate.enter(w, generation)) continue;
        ++inside;
        --inside;
        gate.leave(w, generation);
      }
    });
  unsigned left_over = 0;
  for (int i = 0; i < 20000; ++i) {
    gate.open();
    gate.close(false);
    left_over += inside;
  }
  end = true;
  gate.wake();
  for (auto& worker : workers) worker.join();
  CHECK(left_over == 0);
}

TEST_CASE("a worker that waits long sleeps") {
  Gate gate(1);
  std::thread worker([&] {
    const std::uint32_t generation = gate.wait(0);
    if (gate.enter(0, generation)) gate.leave(0, generation);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double before = process_cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const double burnt = process_cpu_seconds() - before;
  gate.open();
  gate.close(true);
  worker.join();
  CHECK(burnt < 0.1);  // spinning would burn 0.4
}

}  // namespace
}  // namespace lockstep::sim
