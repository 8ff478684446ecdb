// The SM's warps that wait for signals of others: words of global memory, at which they look again and again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/lsu_operation.hpp"
#include "icnt/messages.hpp"
#include "trace/awaited_signals.hpp"

namespace lockstep::core {

/// A wait is a loop of the program: it looks at its word, past the L1, again and again until that has had its
/// signals. Looks are answered where the word's memory is (mem::SignalCounts).
class SignalWaits {
 public:
  /// Cycles from an answer to the next look: a compare, a branch and the load's way to the
  /// L1 (assumed; fixed-latency instructions that depend on each other take 4 to 5 cycles each, a taken
  /// branch some 10).
  static constexpr Cycle kRound = 20;

  /// `op`: of SignalOp::kAwaits, with words.
  void add(Cycle now, const MioOperation& op);
  /// Cycle from which next() has a look to send; kNever.
  [[nodiscard]] Cycle due() const { return due_; }
  /// Precondition: due() <= now.
  [[nodiscard]] icnt::Request next();
  /// The answer to a look with `tag`. The handle of an operation that has ended.
  [[nodiscard]] std::optional<std::uint32_t> receive(Cycle now, const icnt::Reply& reply);

  [[nodiscard]] bool idle() const { return free_.size() == waits_.size(); }
  [[nodiscard]] std::size_t waiting() const { return waits_.size() - free_.size(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, waits_, free_, due_, first_due_);
  }

 private:
  struct Wait {
    trace::AwaitedSignals awaited;
    Cycle from = kNever;  // of the next look; kNever: one is under way
    std::uint32_t handle = 0;
    std::uint8_t kernel = 0;
  };
  void find_due();

  std::vector<Wait> waits_;
  std::vector<std::uint32_t> free_;
  Cycle due_ = kNever;
  std::uint32_t first_due_ = 0;  // whose look it is
};

}  // namespace lockstep::core
