// Turns of a program's host threads, so that the order of their CUDA calls is the same in every run.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "util/console.hpp"

namespace lockstep::cuda {

/// One thread calls at a time, and goes on until it makes a call for which the host waits (pass()), blocks in
/// something else, or ends. The next is the one behind it in the order in which the threads were started, of
/// those that want to call. It is chosen when every thread of the process either wants to call or is blocked:
/// then no other thread can still arrive that would have come first in another run. The order thus depends on
/// the program alone, unless its threads sleep or wait for something outside the process.
///
/// Where that does not come to pass within `patience` of real time, e.g. as a thread computes for long or
/// polls memory, turns end: from then on the order is the operating system's, which one warning says where
/// more than one thread calls.
class Turns {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kPatience{10};  // assumed: threads block or call more often

  /// `on`: false: calls are made as they come. `say` prints the warning.
  explicit Turns(bool on, Clock::duration patience = kPatience,
                 std::function<void(std::string_view)> say = write_err);

  /// A call of the calling thread, while it lasts; it may make further ones. Begins when it is its turn.
  class Call {
   public:
    explicit Call(Turns& turns) : turns_(turns) { turns_.begin(); }
    ~Call() { turns_.end(); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Turns& turns_;
  };

  /// In a call: who else wants to call comes first. `held`, which the caller has locked once, is unlocked
  /// meanwhile.
  void pass(std::recursive_mutex& held);
  /// Do threads take turns (still)?
  [[nodiscard]] bool on();

 private:
  /// By when it was started, in the system's clock ticks, and its number: which the system gives in ascending
  /// order but for an overflow.
  using Thread = std::pair<std::uint64_t, int>;

  void begin();
  void end();
  /// Waits until it is the calling thread's turn. False: turns have ended.
  [[nodiscard]] bool take(std::unique_lock<std::mutex>& lock);
  void pass_on(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] static Thread calling_thread();
  [[nodiscard]] Thread next() const;
  void warn_of_end();

  std::mutex mutex_;  // protects what follows
  std::condition_variable changed_;
  bool on_;
  const int process_;
  Clock::duration patience_;
  std::function<void(std::string_view)> say_;
  std::set<Thread> waiting_;  // that want to call
  Thread holder_{};           // whose turn it is, or was last; none at first
  unsigned calls_ = 0;        // of the holder, in progress: one in the other
  std::uint64_t changes_ = 0;
  std::set<int> callers_;  // threads that have called, or want to
  bool due_ = false;       // the warning, as turns have ended
};

}  // namespace lockstep::cuda
