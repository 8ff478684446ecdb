#include "core/signal_waits.hpp"

#include "util/bits.hpp"

namespace lockstep::core {

void SignalWaits::add(Cycle now, const MioOperation& op) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(waits_.size()));
    waits_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  waits_[place] = {};
  waits_[place].awaited = trace::awaited_signals(op.form, op.words);
  waits_[place].from = now;
  waits_[place].handle = op.handle;
  waits_[place].kernel = op.kernel;
  find_due();
}

/// The one that has waited the longest, the first of them.
void SignalWaits::find_due() {
  due_ = kNever;
  for (std::uint32_t i = 0; i < waits_.size(); ++i) {
    if (waits_[i].from >= due_) continue;
    due_ = waits_[i].from;
    first_due_ = i;
  }
}

icnt::Request SignalWaits::next(Cycle now) {
  Wait& wait = waits_[first_due_];
  const trace::AwaitedSignals& awaited = wait.awaited;
  icnt::Request poll;
  poll.line = line_of(awaited.word);
  poll.tag = first_due_;
  poll.kind = icnt::AccessKind::kAwait;
  poll.sectors = static_cast<SectorMask>(1u << sector_in_line(awaited.word));
  poll.kernel = wait.kernel;
  poll.set_awaited(awaited.word, complete_ ? awaited.signals : 0);
  note_poll(wait, now);
  if (may_park_) set_rate(wait, poll);
  wait.from = kNever;
  find_due();
  return poll;
}

void SignalWaits::note_poll(Wait& wait, Cycle now) {
  wait.gap_before = wait.gap;
  wait.gap = wait.polls == 0 ? 0 : now - wait.last;
  wait.last = now;
  if (++wait.polls == 2) wait.second = now;
}

/// The first poll is left out of the mean: its line may have come from memory.
void SignalWaits::set_rate(const Wait& wait, icnt::Request& poll) {
  if (wait.gap != 0 && wait.gap == wait.gap_before) {
    poll.set_rate(static_cast<std::uint32_t>(wait.gap), 1);
  } else if (wait.polls >= kPollsOfMean) {
    poll.set_rate(static_cast<std::uint32_t>(wait.last - wait.second), wait.polls - 2);
  }
}

std::optional<SignalWaits::Ended> SignalWaits::receive(Cycle now, const icnt::Reply& reply) {
  Wait& wait = waits_[reply.tag];
  if (reply.again) {
    wait.from = now + kRound;
    find_due();
    return std::nullopt;
  }
  free_.push_back(reply.tag);
  return Ended{wait.handle, wait.awaited};
}

}  // namespace lockstep::core
