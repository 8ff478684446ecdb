// The one barrier of the engine: the leader opens a window for its workers and waits until all have closed
// it.
//
// Own code because the barrier decides how small a window may be, and because of what libgomp's does when
// another busy thread shares the cores: it spins on. This one spins for a few microseconds, then yields, then
// sleeps in the kernel, so a waiting thread does not burn a core that others need.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lockstep::sim {

class Gate {
 public:
  explicit Gate(unsigned workers) : workers_(workers) {}

  /// Leader: lets the workers through; what it wrote before is visible to them.
  void open() {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_seq_cst);
    generation_.notify_all();
  }

  /// Leader: waits for every worker's arrive().
  void join() const {
    for (unsigned spins = 0; arrived_.load(std::memory_order_acquire) != workers_; ++spins)
      pause_or_yield(spins);
  }

  /// Worker: waits for the open() after generation `seen`, and returns the new generation.
  [[nodiscard]] std::uint32_t wait(std::uint32_t seen) const {
    for (unsigned spins = 0; spins < kSpins + kYields; ++spins) {
      const std::uint32_t now = generation_.load(std::memory_order_acquire);
      if (now != seen) return now;
      pause_or_yield(spins);
    }
    while (generation_.load(std::memory_order_acquire) == seen)
      generation_.wait(seen, std::memory_order_acquire);
    return generation_.load(std::memory_order_acquire);
  }

  /// Worker: done with this window.
  void arrive() { arrived_.fetch_add(1, std::memory_order_release); }

 private:
  static constexpr unsigned kSpins = 2000;  // some 20 to 40 us of pauses
  static constexpr unsigned kYields = 16;

  static void pause_or_yield(unsigned spins) {
    if (spins >= kSpins) {
      std::this_thread::yield();
      return;
    }
#if defined(__x86_64__)
    _mm_pause();
#endif
  }

  unsigned workers_;
  alignas(64) std::atomic<std::uint32_t> generation_{0};
  alignas(64) std::atomic<std::uint32_t> arrived_{0};
};

}  // namespace lockstep::sim
