// The scheduling policy of a DRAM channel: first-ready, first-come-first-served (Rixner et al., ISCA 2000),
// reads before writes, writes drained by watermarks, rows left open.
#pragma once

#include <cstdint>

#include "config/gpu_config.hpp"
#include "mem/dram_queue.hpp"
#include "mem/dram_timing.hpp"

namespace lockstep::mem {

struct BankState {
  std::uint64_t row = 0;
  bool open = false;
  bool fresh = false;  // activated, no column access since
};

/// The command that a bank would be given next, and for which transaction.
struct BankCandidate {
  std::uint64_t age = 0;  // of the transaction
  DramCommand command = DramCommand::kActivate;
  std::uint16_t transaction = DramQueue::kNone;
};

/// In the channel's direction: the oldest transaction of the open row; without one, the row of the
/// oldest transaction. A row stays open until another is wanted. Between banks the channel takes what can be
/// issued first, then what is older; a bank has no more hits than its row has lines, so nothing starves.
[[nodiscard]] inline BankCandidate candidate_of(const DramQueue& queue, const BankState& bank,
                                                std::uint32_t index, bool write) {
  const std::uint16_t oldest = queue.head(index, write);
  if (oldest == DramQueue::kNone) return {};
  if (!bank.open) return {queue[oldest].age, DramCommand::kActivate, oldest};
  const std::uint16_t hit = queue.find_row(index, write, bank.row);
  if (hit == DramQueue::kNone) return {queue[oldest].age, DramCommand::kPrecharge, oldest};
  return {queue[hit].age, write ? DramCommand::kWrite : DramCommand::kRead, hit};
}

/// The same after the arrival of `newest` of the channel's direction: what is older goes first, but for a hit
/// where there was none.
[[nodiscard]] inline BankCandidate candidate_with(const BankCandidate& before, const DramQueue& queue,
                                                  const BankState& bank, std::uint16_t newest) {
  const DramQueue::Node& node = queue[newest];
  const bool hit = bank.open && bank.row == node.work.row;
  if (hit && (before.transaction == DramQueue::kNone || before.command == DramCommand::kPrecharge))
    return {node.age, node.work.write ? DramCommand::kWrite : DramCommand::kRead, newest};
  if (before.transaction != DramQueue::kNone) return before;
  return {node.age, bank.open ? DramCommand::kPrecharge : DramCommand::kActivate, newest};
}

/// Which direction the channel works in.
class Direction {
 public:
  explicit Direction(const config::DramGroup& dram) : high_(dram.write_high), low_(dram.write_low) {}
  [[nodiscard]] bool writing() const { return writing_; }
  [[nodiscard]] DramCommand column() const { return writing_ ? DramCommand::kWrite : DramCommand::kRead; }

  /// Reads until `high` writes wait, then writes until `low` are left. Without reads it writes too, until the
  /// next read comes. Returns whether the direction changed.
  bool update(std::uint32_t reads, std::uint32_t writes) {
    const bool before = writing_;
    if (writes >= high_) full_ = writing_ = true;
    if (writes <= low_) full_ = false;
    if (!full_) writing_ = reads == 0 && writes > 0;
    return writing_ != before;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(high_), a.given(low_), writing_, full_);
  }

 private:
  std::uint32_t high_, low_;
  bool writing_ = false;
  bool full_ = false;  // draining from the high watermark to the low one
};

}  // namespace lockstep::mem
