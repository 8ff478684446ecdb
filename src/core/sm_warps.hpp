// Which warps can issue, and what the others wait for. Internal to src/core.
#pragma once

#include "core/sm_state.hpp"

namespace lockstep::core {

struct SmWarps : SmState {
  using SmState::SmState;

  // --- Readiness and stalls (sm_ready.cpp) ---
  /// Finds out what the warp's next instruction waits for; it may issue from tick `soonest` on.
  void evaluate(unsigned w, Tick soonest);
  void set_waiting(unsigned w, stats::Stall why);
  void set_ready(unsigned w, config::UnitMask units);
  void set_wants(unsigned w, config::UnitMask units);
  void wake_at(unsigned w, Tick at);
  void hold(unsigned s, stats::Stall why, Tick until);
  /// The sub-core's ready warps may be able to issue again.
  void let_issue(unsigned s) {
    settle_subcore(s, current);
    held &= ~(WarpSet64{0xffff} << 16 * s);
    held_until[s] = kNoTick;
  }
  /// Books the cycles before `now` that are not booked yet: nothing has changed since the last that is.
  void settle_subcore(unsigned s, Cycle now) {
    if (subcores[s].charged < now) book_cycles(s, now);
  }
  /// Slot of the sub-core's first ready warp. Precondition: there is one.
  [[nodiscard]] unsigned first_ready(unsigned s) const {
    return static_cast<unsigned>(std::countr_zero(ready >> 16 * s & 0xffff)) + 16 * s;
  }
  void book_cycles(unsigned s, Cycle now);
  void charge(stats::Stall why, std::uint8_t kernel, Cycle cycles);

  // --- Instruction buffers (sm_fetch.cpp) ---
  /// Decides whether the warp takes part in fetching from tick `now` on.
  void update_fetch(unsigned w, Tick now);
  void fetch_one(unsigned w, Cycle now);
};

}  // namespace lockstep::core
