#include "lower/temporaries.hpp"

#include <algorithm>

namespace lockstep::lower {

Temporaries::Temporaries(const RegisterAssignment& registers, bool among_values)
    : above_(among_values ? 0 : registers.used()) {
  if (among_values) held_ = registers.held();
  std::ranges::stable_sort(held_, {}, &HeldRegisters::first);
}

const Temporaries::Busy& Temporaries::busy(std::uint32_t at) {
  if (at == at_) return busy_;
  at_ = at;
  for (; next_ < held_.size() && held_[next_].first <= at + 1; ++next_) {
    const HeldRegisters& held = held_[next_];
    for (unsigned r = held.place; r < held.place + held.words; ++r)
      until_[r] = std::max(until_[r], held.last + 1);
  }
  for (unsigned r = 0; r < kMaxRegisters; ++r) busy_[r] = until_[r] > at;
  return busy_;
}

std::uint8_t Temporaries::place(const Busy& busy, unsigned number, bool paired) {
  const unsigned words = paired && above_ == 0 ? 2 : 1;
  unsigned left = number / words, at = kMaxRegisters - 1;
  for (unsigned r = above_; r + words < kMaxRegisters; r += words) {
    if (busy[r] || busy[r + words - 1] || left-- > 0) continue;
    at = r + number % words;
    break;
  }
  used_ = std::max(used_, at + 1);
  return static_cast<std::uint8_t>(at);
}

}  // namespace lockstep::lower
