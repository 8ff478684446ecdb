#include "mem/parked_looks.hpp"

#include <algorithm>

namespace lockstep::mem {

void ParkedLooks::park(const icnt::Request& look, bool far, std::uint32_t set, Cycle now) {
  looks_.push_back({set, far, now, kNever, 0, look});
  if (far) ++far_;
}

void ParkedLooks::signalled(Address line, const SignalCounts& signals, Cycle now) {
  bool any = false;
  for (Parked& parked : looks_) {
    if (parked.look.line != line || parked.due != kNever || signals.lacks(parked.look)) continue;
    time(parked, now);
    any = true;
  }
  if (any) find_due();
}

/// Looks would have come at since + k * period, rounded up; the slice serves one request an edge, so one that
/// comes in that of the signal is served behind it.
void ParkedLooks::time(Parked& parked, Cycle now) const {
  parked.due = now + 1;
  if (parked.look.is_watch()) return;
  const sim::Wide period = sim::Wide{parked.look.rate_cycles()} * khz_;
  const sim::Wide unit = sim::Wide{parked.look.rate_looks()} * core_khz_;
  const sim::Wide waited = now - parked.since;
  const sim::Wide looks = std::max<sim::Wide>((waited * unit + period - 1) / period, 1);
  parked.elided = static_cast<std::uint64_t>(looks);
  parked.due = std::max(parked.since + static_cast<Cycle>((looks * period + unit - 1) / unit), parked.due);
}

/// The earliest, of several the one that came first.
void ParkedLooks::find_due() {
  due_ = kNever;
  for (std::uint32_t i = 0; i < looks_.size(); ++i) {
    if (looks_[i].due >= due_) continue;
    due_ = looks_[i].due;
    first_ = i;
  }
}

ParkedLooks::Due ParkedLooks::front() const {
  const Parked& parked = looks_[first_];
  return {parked.look, parked.far, parked.elided};
}

void ParkedLooks::pop() {
  if (looks_[first_].far) --far_;
  looks_.erase(looks_.begin() + static_cast<std::ptrdiff_t>(first_));
  find_due();
}

}  // namespace lockstep::mem
