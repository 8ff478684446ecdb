// Says when a program seems to wait in its own memory for what a held kernel is to write.
#pragma once

#include <memory>
#include <string>

namespace lockstep::cuda {

/// Held kernels go on in the program's calls (held_work.hpp). One that polls memory and calls nothing would
/// wait for ever, without a word; from its first held kernel on, a thread watches whether calls are made. It
/// only warns: to go on at a time that the host's clock chooses would make results depend on it.
class CallWatchdog {
 public:
  CallWatchdog();
  CallWatchdog(const CallWatchdog&) = delete;
  CallWatchdog& operator=(const CallWatchdog&) = delete;
  ~CallWatchdog();

  /// The kernel of this name waits for a write of the program's.
  void begin(const std::string& kernel);
  /// None does any more.
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
