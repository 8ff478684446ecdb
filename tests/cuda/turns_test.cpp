// Host threads that take turns: the order of their calls, whatever the operating system does.
#include "cuda/turns.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace lockstep::cuda {
using namespace std::chrono_literals;

namespace {

/// What the operating system does with a thread between two calls.
void dawdle() {
  static thread_local std::minstd_rand random(std::random_device{}());
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 3000);
  while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

/// Calls as the runtime makes them: with its mutex locked.
struct Calls {
  explicit Calls(Turns::Clock::duration patience = Turns::kPatience)
      : turns(true, patience, [this](std::string_view text) { said += text; }) {}
  std::string said;
  Turns turns;
  std::recursive_mutex mutex;
  std::vector<int> order;

  void call(int who, bool waits = false) {
    dawdle();
    const Turns::Call turn(turns);
    const std::scoped_lock lock(mutex);
    if (waits) turns.pass(mutex);
    order.push_back(who);
  }
};

}  // namespace

TEST_CASE("host threads make their calls in the order in which they were started, up to the next wait") {
  for (int run = 0; run < 10; ++run) {
    Calls calls;
    std::vector<std::thread> threads;
    calls.call(9);
    for (int who = 0; who < 3; ++who)
      threads.emplace_back([&calls, who] {
        calls.call(who), calls.call(who), calls.call(10 + who, true), calls.call(20 + who);
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(calls.turns.on());
    CHECK(calls.order == std::vector<int>{9, 0, 0, 1, 1, 2, 2, 10, 20, 11, 21, 12, 22});
  }
}

TEST_CASE("a host thread that is blocked by another one gives its turn to that") {
  for (int run = 0; run < 10; ++run) {
    Calls calls;
    std::atomic<int> stage{0};
    std::thread first([&] {
      calls.call(1);
      stage.wait(0);
      calls.call(3);
    });
    std::thread second([&] {
      calls.call(2);
      stage = 1;
      stage.notify_all();
      calls.call(2);
    });
    first.join(), second.join();
    CHECK(calls.order == std::vector<int>{1, 2, 2, 3});
  }
}

TEST_CASE("a host thread that sleeps again and again and never calls CUDA holds up no turn") {
  Calls calls(2s);
  std::atomic<bool> done{false};
  std::thread sleeps([&] {
    while (!done) std::this_thread::sleep_for(5ms);
  });
  std::thread first([&] { calls.call(1), calls.call(2, true); });
  first.join();
  calls.call(3), calls.call(4, true);
  done = true;
  sleeps.join();
  CHECK(calls.turns.on());
  CHECK(calls.said == "");
}

TEST_CASE("a host thread that polls for long ends the turns instead of the program's progress") {
  Calls calls(50ms);
  std::atomic<bool> called{false};
  calls.call(1);
  std::thread other([&] {
    calls.call(2);
    called = true;
  });
  while (!called) std::this_thread::yield();
  other.join();
  CHECK_FALSE(calls.turns.on());
  CHECK(calls.order == std::vector<int>{1, 2});
  CHECK(std::count(calls.said.begin(), calls.said.end(), '\n') == 1);
  CHECK(calls.said.find("in an order that the operating system chooses") != std::string::npos);
}

TEST_CASE(
    "a thread that computes and never calls CUDA ends the turns without a word, until a second one calls") {
  Calls calls(50ms);
  std::atomic<bool> done{false};
  std::thread computes([&] {
    while (!done) {
    }
  });
  calls.call(1), calls.call(2, true), calls.call(3, true);
  CHECK_FALSE(calls.turns.on());
  CHECK(calls.said == "");
  std::thread([&] { calls.call(4), calls.call(5); }).join();
  CHECK(std::count(calls.said.begin(), calls.said.end(), '\n') == 1);
  done = true;
  computes.join();
  CHECK(calls.order == std::vector<int>{1, 2, 3, 4, 5});
}

TEST_CASE("turns that are off order nothing: a thread in a call holds up no other") {
  Turns turns(false);
  const Turns::Call own(turns);
  std::thread([&] { const Turns::Call other(turns); }).join();
  CHECK_FALSE(turns.on());
}

}  // namespace lockstep::cuda
