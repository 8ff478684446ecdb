// The one barrier of the engine: the leader opens a window to its workers, closes it, and waits until those
// that have entered have left.
//
// This is our own code because the barrier limits how small a window may be, and because libgomp's barrier
// waits for all threads and keeps spinning when other processes share the cores. Here the leader does not
// wait for a worker that does not enter in time, because it sleeps or has no core, but does the work itself.
// A waiting thread spins for a few microseconds, then yields, then sleeps in the kernel, so it does not
// occupy a core that others need.
//
// Each worker says that it is in and that it has left on a cache line of its own, so workers do not contend,
// and the leader's reads of these lines overlap.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lockstep::sim {

class Gate {
 public:
  explicit Gate(unsigned workers) : places_(workers) {}

  /// Leader: what it wrote before is visible to the workers that come in.
  void open() { next_generation(); }

  /// Leader: wait() returns, with nothing to come into: the end.
  void wake() {
    closed_.store(generation_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    next_generation();
  }

  /// Leader: admits no more threads and waits for those inside. `everyone`: only after all have been in.
  void close(bool everyone) {
    const std::uint32_t now = generation_.load(std::memory_order_relaxed);
    if (everyone)
      for (const Place& place : places_) wait_for(place, now);
    // A worker says that it is in, then looks at closed_; here it is the other way round: one sees the other.
    closed_.store(now, std::memory_order_seq_cst);
    for (const Place& place : places_)
      if (place.entered.load(std::memory_order_seq_cst) == now) wait_for(place, now);
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

  /// Worker 0, 1, ...: false when the leader has closed the window of this generation.
  [[nodiscard]] bool enter(unsigned worker, std::uint32_t generation) {
    places_[worker].entered.store(generation, std::memory_order_seq_cst);
    if (closed_.load(std::memory_order_seq_cst) == generation - 1) return true;
    leave(worker, generation);
    return false;
  }

  /// Worker: done with this window.
  void leave(unsigned worker, std::uint32_t generation) {
    places_[worker].left.store(generation, std::memory_order_release);
  }

 private:
  static constexpr unsigned kSpins = 2000;  // some 20 to 40 us of pauses
  static constexpr unsigned kYields = 16;

  struct alignas(64) Place {  // generations
    std::atomic<std::uint32_t> entered{0}, left{0};
  };

  void next_generation() {
    generation_.fetch_add(1, std::memory_order_seq_cst);
    generation_.notify_all();
  }

  static void wait_for(const Place& place, std::uint32_t generation) {
    for (unsigned spins = 0; place.left.load(std::memory_order_acquire) != generation; ++spins)
      pause_or_yield(spins);
  }

  static void pause_or_yield(unsigned spins) {
    if (spins >= kSpins) {
      std::this_thread::yield();
      return;
    }
#if defined(__x86_64__)
    _mm_pause();
#endif
  }

  // Both on one line: who sees a new generation has it.
  alignas(64) std::atomic<std::uint32_t> generation_{0};
  std::atomic<std::uint32_t> closed_{0};  // the last generation that is; one behind while a window is open
  std::vector<Place> places_;
};

}  // namespace lockstep::sim
