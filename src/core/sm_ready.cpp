// Readiness of warps, sub-cores that are held, stall attribution.
#include <algorithm>
#include <bit>

#include "core/sm_warps.hpp"
#include "util/bits.hpp"

namespace lockstep::core {
namespace {

using stats::Stall;

// Reasons of warps that wait, in the order in which a sub-core's idle cycle is blamed on them: what is
// closest to issuing first. Reasons of ready warps (unit, queue, register ports) are charged by the issue
// stage itself.
constexpr std::array kBlame = {
    Stall::kWait,   Stall::kShortScoreboard, Stall::kLongScoreboard, Stall::kBarrier,       Stall::kMemBar,
    Stall::kDepBar, Stall::kSleep,           Stall::kBranch,         Stall::kNoInstruction, Stall::kDrain};

Stall reason_of(Block b) {
  switch (b) {
    case Block::kBarrier:
    case Block::kMbarrier:
    case Block::kCluster:
      return Stall::kBarrier;
    case Block::kFence:
      return Stall::kMemBar;
    case Block::kDepBar:
      return Stall::kDepBar;
    case Block::kSignal:  // a loop around a load
      return Stall::kLongScoreboard;
    case Block::kNone:
      break;
  }
  return Stall::kWait;
}

}  // namespace

// --- Readiness ---

void SmWarps::evaluate(unsigned w, Tick soonest) {
  Warp& warp = warps[w];
  if (!warp.resident || warp.next == warp.end) return;
  if (warp.block != Block::kNone) return set_waiting(w, reason_of(warp.block));
  if (warp.buffered == 0)
    return set_waiting(w, redirected & warp_bit(w) ? Stall::kBranch : Stall::kNoInstruction);

  Tick at = warp.decoded[warp.ring];
  Stall why = Stall::kNoInstruction;
  if (warp.not_before > at) {
    at = warp.not_before;
    why = warp.delay;
  }
  const IssueInst& inst = (*warp.table)[warp.next->inst()];
  warp.next_inst = &inst;
  const Tick registers = scoreboard.ready(w, inst);
  if (registers >= Scoreboard::kPendingLong)
    return set_waiting(
        w, registers == Scoreboard::kPendingLong ? Stall::kLongScoreboard : Stall::kShortScoreboard);
  if (warp.readers > 0 && scoreboard.read_pending(w, inst)) return set_waiting(w, Stall::kShortScoreboard);
  if (registers + inst.operand_delay > at) {
    at = registers + inst.operand_delay;
    why = Stall::kWait;
  }
  if (at <= soonest) return set_ready(w, inst.units);
  set_waiting(w, why);
  wake_at(w, at);
}

void SmWarps::set_waiting(unsigned w, Stall why) {
  settle_subcore(w / 16, current);
  ready &= ~warp_bit(w);
  if (wants[w]) set_wants(w, 0);
  waiting[static_cast<unsigned>(reason[w])] &= ~warp_bit(w);
  waiting[static_cast<unsigned>(why)] |= warp_bit(w);
  reason[w] = why;
}

void SmWarps::set_ready(unsigned w, config::UnitMask units) {
  if (wants[w] == units) return;  // it has been so
  let_issue(w / 16);
  set_wants(w, units);
  waiting[static_cast<unsigned>(reason[w])] &= ~warp_bit(w);
  reason[w] = Stall::kIssued;
  ready |= warp_bit(w);
}

void SmWarps::set_wants(unsigned w, config::UnitMask units) {
  SubCore& sub = subcores[w / 16];
  const auto bit = static_cast<WarpSet16>(1u << w % 16);
  for (const unsigned u : bits_of(wants[w] & ~unsigned{units})) {
    sub.ready_for[u] = static_cast<WarpSet16>(sub.ready_for[u] & ~bit);
    if (sub.ready_for[u] == 0) sub.wanted = static_cast<config::UnitMask>(sub.wanted & ~(1u << u));
  }
  for (const unsigned u : bits_of(units & ~unsigned{wants[w]})) sub.ready_for[u] |= bit;
  sub.wanted |= units;
  wants[w] = units;
}

/// Looks at the warp again at tick `at`, or on the way there when that is beyond the wheel.
void SmWarps::wake_at(unsigned w, Tick at) {
  const Cycle slot = (current + std::min<Tick>(at - local(current), 63)) & 63;
  wheel[slot] |= warp_bit(w);
  wheel_used |= std::uint64_t{1} << slot;
}

/// None of the sub-core's ready warps can issue: nothing is tried again before tick `until`, or before one
/// more warp is ready or the queue has room.
void SmWarps::hold(unsigned s, Stall why, Tick until) {
  held |= WarpSet64{0xffff} << 16 * s;
  subcores[s].held_for = why;
  subcores[s].held_kernel = warps[first_ready(s)].kernel;
  held_until[s] = until;
}

// --- Stall attribution ---

void SmWarps::book_cycles(unsigned s, Cycle now) {
  SubCore& sub = subcores[s];
  const Cycle cycles = now - sub.charged;
  sub.charged = now;
  if (held >> 16 * s & 1) {  // the ready warps are those that hold() has found
    if (profile) profile->add_stall(warps[first_ready(s)], first_ready(s), sub.held_for, cycles);
    return charge(sub.held_for, sub.held_kernel, cycles);
  }
  for (const Stall why : kBlame) {
    const WarpSet64 set = waiting[static_cast<unsigned>(why)] >> 16 * s & 0xffff;
    if (!set) continue;
    const unsigned w = static_cast<unsigned>(std::countr_zero(set)) + 16 * s;
    const Warp& warp = warps[w];
    if (profile) profile->add_stall(warp, w, why, cycles);
    return charge(why, warp.kernel, cycles);
  }
  sub.empty_cycles += cycles;
}

void SmWarps::charge(Stall why, std::uint8_t kernel, Cycle cycles) {
  counters[kernel].stalls[static_cast<unsigned>(why)] += cycles;
}

}  // namespace lockstep::core
