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
  waits_[place] = {op.words, now, op.handle, op.kernel, static_cast<std::uint8_t>(bit_count(op.mask) / 2),
                   0,        0,   false};
  find_due();
}

/// The one that has waited the longest, the first of them.
void SignalWaits::find_due() {
  due_ = kNever;
  for (std::uint32_t i = 0; i < waits_.size(); ++i) {
    const Wait& wait = waits_[i];
    if (wait.words == nullptr || wait.sent == wait.pairs || wait.from >= due_) continue;
    due_ = wait.from;
    first_due_ = i;
  }
}

icnt::Request SignalWaits::next(Cycle) {
  Wait& wait = waits_[first_due_];
  const std::uint64_t* const pair = wait.words + std::size_t{2} * wait.sent++;
  icnt::Request request;
  request.line = line_of(pair[0]);
  request.tag = first_due_;
  request.kind = icnt::AccessKind::kAwait;
  request.sectors = static_cast<SectorMask>(1u << sector_in_line(pair[0]));
  request.kernel = wait.kernel;
  request.set_awaited(pair[0], static_cast<std::uint32_t>(pair[1]));
  find_due();
  return request;
}

std::optional<std::uint32_t> SignalWaits::receive(Cycle now, const icnt::Reply& reply) {
  Wait& wait = waits_[reply.tag];
  wait.again |= reply.again;
  if (++wait.answered < wait.pairs) return std::nullopt;
  if (wait.again) {
    wait.sent = wait.answered = 0;
    wait.again = false;
    wait.from = now + kRound;
    find_due();
    return std::nullopt;
  }
  wait.words = nullptr;
  free_.push_back(reply.tag);
  return wait.handle;
}

}  // namespace lockstep::core
