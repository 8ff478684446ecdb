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
  waits_[place] = {trace::awaited_signals(op.form, op.words), now, op.handle, op.kernel};
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

icnt::Request SignalWaits::next() {
  Wait& wait = waits_[first_due_];
  const trace::AwaitedSignals& awaited = wait.awaited;
  icnt::Request look;
  look.line = line_of(awaited.word);
  look.tag = first_due_;
  look.kind = icnt::AccessKind::kAwait;
  look.sectors = static_cast<SectorMask>(1u << sector_in_line(awaited.word));
  look.kernel = wait.kernel;
  look.set_awaited(awaited.word, awaited.signals);
  wait.from = kNever;
  find_due();
  return look;
}

std::optional<std::uint32_t> SignalWaits::receive(Cycle now, const icnt::Reply& reply) {
  Wait& wait = waits_[reply.tag];
  if (reply.again) {
    wait.from = now + kRound;
    find_due();
    return std::nullopt;
  }
  free_.push_back(reply.tag);
  return wait.handle;
}

}  // namespace lockstep::core
