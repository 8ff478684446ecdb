// The SM's warps that wait for signals of others: words of global memory, at which they poll again and again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/lsu_operation.hpp"
#include "icnt/messages.hpp"
#include "trace/awaited_signals.hpp"

namespace lockstep::core {

/// A wait is a loop of the program: it polls its word, past the L1, again and again until that has had its
/// signals, or, where sync.signals_complete is false, once. Polls are done where the word's memory is
/// (mem::SignalCounts). Once they come at a steady rate, of the same time between them twice or else the mean
/// of several, a poll may stay there (mem::ParkedPolls).
class SignalWaits {
 public:
  /// Cycles from a reply to the next poll: a compare, a branch and the load's way to the
  /// L1 (assumed; fixed-latency instructions that depend on each other take 4 to 5 cycles each, a taken
  /// branch some 10).
  static constexpr Cycle kRound = 20;

  /// sync.poll_elision: whether polls may stay where they are done.
  explicit SignalWaits(const config::SyncGroup& sync)
      : may_park_(sync.poll_elision), complete_(sync.signals_complete) {}

  /// `op`: of SignalOp::kAwaits, with words.
  void add(Cycle now, const MioOperation& op);
  /// Cycle from which next() has a poll to send; kNever.
  [[nodiscard]] Cycle due() const { return due_; }
  /// Precondition: due() <= now.
  [[nodiscard]] icnt::Request next(Cycle now);
  /// An operation that has ended, and what it has waited for.
  struct Ended {
    std::uint32_t handle = 0;
    trace::AwaitedSignals awaited;
  };
  /// The reply to a poll.
  [[nodiscard]] std::optional<Ended> receive(Cycle now, const icnt::Reply& reply);

  [[nodiscard]] bool idle() const { return free_.size() == waits_.size(); }
  [[nodiscard]] std::size_t waiting() const { return waits_.size() - free_.size(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(may_park_), a.given(complete_), waits_, free_, due_, first_due_);
  }

 private:
  struct Wait {
    trace::AwaitedSignals awaited;
    Cycle from = kNever;  // of the next poll; kNever: one is under way
    std::uint32_t handle = 0;
    std::uint8_t kernel = 0;
    std::uint32_t polls = 0;        // sent
    Cycle second = 0, last = 0;     // when
    Cycle gap = 0, gap_before = 0;  // between the last of them
  };
  static constexpr std::uint32_t kPollsOfMean = 8;
  void find_due();
  static void note_poll(Wait& wait, Cycle now);
  static void set_rate(const Wait& wait, icnt::Request& poll);

  bool may_park_, complete_;
  std::vector<Wait> waits_;
  std::vector<std::uint32_t> free_;
  Cycle due_ = kNever;
  std::uint32_t first_due_ = 0;  // whose poll it is
};

}  // namespace lockstep::core
