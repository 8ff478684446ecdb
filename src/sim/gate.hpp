// The one barrier of the engine: the leader opens a window to its workers, closes it, and waits until those
// who came in have left.
//
// Own code because the barrier decides how small a window may be, and because of what libgomp's does when
// another busy thread shares the cores: it waits for all and spins on. Here a worker that does not come in
// time, because it sleeps or has no core, is not waited for: the leader does the work. Who waits spins for a
// few microseconds, then yields, then sleeps in the kernel, so it does not burn a core that others need.
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

  /// Leader: what it wrote before is visible to the workers that come in.
  void open() {
    left_.store(0, std::memory_order_relaxed);
    inside_.store(0, std::memory_order_release);
    wake();
  }

  /// Leader: wait() returns, with nothing to come into: the end.
  void wake() {
    generation_.fetch_add(1, std::memory_order_seq_cst);
    generation_.notify_all();
  }

  /// Leader: lets nobody in any more and waits for those inside. `everyone`: not before all have been in.
  void close(bool everyone) {
    for (unsigned spins = 0; everyone && left_.load(std::memory_order_acquire) != workers_; ++spins)
      pause_or_yield(spins);
    inside_.fetch_or(kClosed, std::memory_order_acq_rel);
    for (unsigned spins = 0; inside_.load(std::memory_order_acquire) != kClosed; ++spins)
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

  /// Worker: false when the leader has closed the window.
  [[nodiscard]] bool enter() {
    std::uint32_t count = inside_.load(std::memory_order_relaxed);
    while (!(count & kClosed))
      if (inside_.compare_exchange_weak(count, count + 1, std::memory_order_acquire)) return true;
    return false;
  }

  /// Worker: done with this window.
  void leave() {
    left_.fetch_add(1, std::memory_order_release);
    inside_.fetch_sub(1, std::memory_order_release);
  }

 private:
  static constexpr unsigned kSpins = 2000;  // some 20 to 40 us of pauses
  static constexpr unsigned kYields = 16;
  static constexpr std::uint32_t kClosed = 0x80000000;

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
  alignas(64) std::atomic<std::uint32_t> inside_{kClosed};  // workers, and kClosed
  std::atomic<std::uint32_t> left_{0};
};

}  // namespace lockstep::sim
