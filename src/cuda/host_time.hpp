// What the program itself computes on the host, between its calls, in one of its threads: measured by the
// thread's CPU time, without that of calls of CUDA, of MPI and of reading the clock.
#pragma once

#include <cstdint>

namespace lockstep::cuda {

/// The calling thread's. Where begin() was never called, all of it does nothing.
class HostTime {
 public:
  /// This thread is measured from its next leave() on, and what it computes counts `factor` times. Called
  /// within a call of MPI, once in a process.
  static void begin(double factor);
  // A call begins and ends. Calls within calls are a part of the outermost one.
  static void enter() {
    if (measures_) [[unlikely]]
      entered();
  }
  static void leave() {
    if (measures_) [[unlikely]]
      left();
  }
  /// What was computed before the call that the thread is in, in ps: at most trace::kMaxElapsedPs at a time,
  /// 0 when all was taken.
  [[nodiscard]] static std::uint64_t take_ps() { return measures_ ? taken() : 0; }

 private:
  static void entered();
  static void left();
  [[nodiscard]] static std::uint64_t taken();

  static bool measures_;
};

}  // namespace lockstep::cuda
