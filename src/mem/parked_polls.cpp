#include "mem/parked_polls.hpp"

#include <algorithm>

namespace lockstep::mem {

void ParkedPolls::park(const icnt::Request& poll, bool far, std::uint32_t set, Cycle now) {
  polls_.push_back({set, far, now, kNever, 0, poll});
  if (far) ++far_;
}

void ParkedPolls::signalled(Address line, const SignalCounts& signals, Cycle now) {
  bool any = false;
  for (Parked& parked : polls_) {
    if (parked.poll.line != line || parked.due != kNever || signals.lacks(parked.poll)) continue;
    time(parked, now);
    any = true;
  }
  if (any) find_due();
}

/// Polls would have come at since + k * period, rounded up; the slice serves one request an edge, so one that
/// comes in that of the signal is served behind it.
void ParkedPolls::time(Parked& parked, Cycle now) const {
  parked.due = now + 1;
  if (parked.poll.is_watch()) return;
  const sim::Wide period = sim::Wide{parked.poll.rate_cycles()} * khz_;
  const sim::Wide unit = sim::Wide{parked.poll.rate_polls()} * core_khz_;
  const sim::Wide waited = now - parked.since;
  const sim::Wide polls = std::max<sim::Wide>((waited * unit + period - 1) / period, 1);
  parked.elided = static_cast<std::uint64_t>(polls);
  parked.due = std::max(parked.since + static_cast<Cycle>((polls * period + unit - 1) / unit), parked.due);
}

/// The earliest, of several the one that came first.
void ParkedPolls::find_due() {
  due_ = kNever;
  for (std::uint32_t i = 0; i < polls_.size(); ++i) {
    if (polls_[i].due >= due_) continue;
    due_ = polls_[i].due;
    first_ = i;
  }
}

ParkedPolls::Due ParkedPolls::front() const {
  const Parked& parked = polls_[first_];
  return {parked.poll, parked.far, parked.elided};
}

void ParkedPolls::pop() {
  if (polls_[first_].far) --far_;
  polls_.erase(polls_.begin() + static_cast<std::ptrdiff_t>(first_));
  find_due();
}

}  // namespace lockstep::mem
