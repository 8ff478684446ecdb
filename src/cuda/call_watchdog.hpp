// Warns when a program seems to poll its own memory for a word that a held kernel would write.
#pragma once

#include <memory>
#include <string>

namespace lockstep::cuda {

/// Held kernels continue in the program's calls (held_work.hpp). A program that polls memory and makes no
/// call would wait for ever without any message; from its first held kernel on, a thread watches whether
/// calls are made. It only warns: if kernels continued at a time that the host's clock determines, results
/// would depend on that.
class CallWatchdog {
 public:
  CallWatchdog();
  CallWatchdog(const CallWatchdog&) = delete;
  CallWatchdog& operator=(const CallWatchdog&) = delete;
  ~CallWatchdog();

  /// The kernel of this name waits for a write by the program.
  void begin(const std::string& kernel);
  /// No kernel waits any more.
  void end();
  /// Has the program any thread but the calling one?
  [[nodiscard]] bool has_other_threads() const;

  /// A call of the program, while it lasts.
  class Call {
   public:
    explicit Call(CallWatchdog& watchdog);
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call();

   private:
    CallWatchdog& watchdog_;
  };

 private:
  struct State;
  static void watch(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;  // shared with the thread, which may outlive this
};

}  // namespace lockstep::cuda
