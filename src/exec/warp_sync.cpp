#include "exec/warp_sync.hpp"

#include <algorithm>
#include <bit>

#include "exec/check/launch_check.hpp"
#include "trace/barrier_events.hpp"

namespace lockstep::exec {

namespace {

/// Executes a member-mask operation for each group of the `present` lanes that is complete. Returns those
/// lanes.
LaneMask sync_groups(WarpState& warp, const Operation& op, LaneMask present) {
  if (op.detail == 0) {  // all of the warp
    if ((warp.live & ~present) != 0) return 0;
    warp.lane(op, present);
    return present;
  }
  const LaneValues& members = *warp.at(warp.operands[op.operands + op.destinations + op.sources - 1]);
  LaneMask done = 0;
  for (LaneMask left = present; left != 0;) {
    const auto mask = static_cast<LaneMask>(members.lane[std::countr_zero(left)]);
    LaneMask group = 0;
    for (LaneMask rest = left; rest != 0; rest &= rest - 1)
      if (static_cast<LaneMask>(members.lane[std::countr_zero(rest)]) == mask) group |= rest & (0 - rest);
    left &= ~group;
    // A lane that its own mask does not name is undefined in PTX. Programs made for the hardware count on
    // what the named lanes that are there give, and on no wait.
    if (const LaneMask foreign = group & ~mask; foreign != 0) {
      warp.lane(op, foreign, (present & mask) | foreign);
      done |= foreign;
      group &= mask;
    }
    if (group == 0 || (mask & warp.live & ~group) != 0) continue;
    warp.lane(op, group);
    done |= group;
  }
  return done;
}

/// Reports to the checks that these lanes have waited for each other.
void tell_checks(const WarpState& warp, LaneMask lanes) {
  if (warp.machine->check) warp.machine->check->sync_lanes(*warp.cta->checked, warp.index, lanes, warp.live);
}

void settle_warp_barriers(const WarpState& warp, Divergence& paths) {
  LaneMask at_barrier = 0;
  for (const Split& split : paths.others())
    if (split.state == Split::State::kAtWarpBarrier) at_barrier |= split.mask;
  for (Split& split : paths.others()) {
    if (split.state != Split::State::kAtWarpBarrier) continue;
    if ((split.members & warp.live & ~at_barrier) != 0) continue;
    tell_checks(warp, split.members);
    Divergence::release(split);
  }
}

/// Executes the member-mask operation of a split that waits, where all are there, as that split. Returns the
/// lanes.
LaneMask sync_waiting(WarpState& warp, Divergence& paths, const Split& waiting, LaneMask present) {
  const Split running = warp.now;
  warp.now = waiting;
  paths.enter(warp);
  const LaneMask done = sync_groups(warp, warp.operations[waiting.pc], present);
  warp.now = running;
  paths.enter(warp);
  return done;
}

/// The arrival of a split that waits. Here, splits wait separately; in the timing model, the whole warp
/// waits, from the last split's arrival on. The earlier arrivals have records without active lanes.
void note_wait(WarpState& warp, Divergence& paths, std::uint32_t counted) {
  Split& arrived = paths.others().back();
  arrived.owes_record = true;
  arrived.counted = counted;
  const bool goes_on = warp.now.mask != 0 || std::ranges::any_of(paths.others(), [](const Split& s) {
                         return s.state == Split::State::kReady;
                       });
  if (!goes_on) return note_barrier(warp, paths, arrived.barrier);
  warp.record->records.push_back(trace::Record::make(arrived.pc, trace::AddressForm::kNone, 0));
}

void note_events(WarpState& warp, std::uint32_t pc, LaneMask lanes, const trace::BarrierEvents& events) {
  const trace::BarrierEventWords words = trace::pack(events);
  warp.record->words.push_back(words.base);
  warp.record->words.push_back(words.stride);
  warp.record->records.push_back(trace::Record::make(pc, trace::AddressForm::kAffine, lanes));
}

/// Lanes whose predicate of bar.red is true.
LaneMask lanes_for(const WarpState& warp, const BarrierForm& form, LaneMask active) {
  if (!form.predicate.exists()) return 0;
  const LaneValues& p = *warp.at(form.predicate);
  LaneMask yes = 0;
  for (LaneMask left = active; left != 0; left &= left - 1)
    if (((p.lane[std::countr_zero(left)] & 1) != 0) != form.negated) yes |= left & (0 - left);
  return yes;
}

}  // namespace

bool execute_lane_sync(WarpState& warp, Divergence& paths, const Operation& op, LaneMask active) {
  const LaneMask missing = active == 0 ? 0 : active & ~sync_groups(warp, op, active);
  if (missing == 0) {
    ++warp.now.pc;
    return true;
  }
  const bool left = paths.block(warp, Split::State::kAtSync, missing, 0, 0);
  settle_sync(warp, paths);
  return left;
}

bool execute_warp_barrier(WarpState& warp, Divergence& paths, const Operation& op, LaneMask active) {
  if (active == 0) {
    ++warp.now.pc;
    return true;
  }
  const LaneMask members = static_cast<LaneMask>(warp.uniform(warp.operands[op.operands], active)) | active;
  if ((members & warp.live & ~active) == 0) {
    ++warp.now.pc;
    return true;
  }
  const bool left = paths.block(warp, Split::State::kAtWarpBarrier, active, members, 0);
  settle_sync(warp, paths);
  return left;
}

void settle_sync(WarpState& warp, Divergence& paths) {
  settle_warp_barriers(warp, paths);
  for (std::size_t i = 0; i < paths.others().size(); ++i) {
    if (paths.others()[i].state != Split::State::kAtSync) continue;
    const Split waiting = paths.others()[i];
    const std::uint32_t base = warp.frames[waiting.frame].base;
    const auto same = [&](const Split& s) {
      return s.state == Split::State::kAtSync && s.pc == waiting.pc && warp.frames[s.frame].base == base;
    };
    LaneMask present = 0;
    for (const Split& split : paths.others())
      if (same(split)) present |= split.mask;
    const LaneMask done = sync_waiting(warp, paths, waiting, present);
    if (done == 0) continue;
    tell_checks(warp, done);
    const std::size_t count = paths.others().size();
    for (std::size_t j = 0; j < count; ++j)
      if (same(paths.others()[j]) && (paths.others()[j].mask & done) != 0) paths.release_lanes(j, done);
  }
}

bool execute_barrier(WarpState& warp, Divergence& paths, const Operation& op, LaneMask active,
                     Arrival& arrival) {
  if (active == 0) {
    ++warp.now.pc;
    return true;
  }
  const BarrierForm& form = warp.machine->kernel.barriers()[op.detail];
  const auto which = static_cast<std::uint32_t>(warp.uniform(form.barrier, active));
  const auto threads =
      form.threads.exists() ? static_cast<std::uint32_t>(warp.uniform(form.threads, active)) : 0;
  if (which >= kBarriers) warp.fault(FaultKind::kIllegalInstruction, active, 0, "no such barrier");
  if (threads % kWarpSize != 0)
    warp.fault(FaultKind::kIllegalInstruction, active, 0,
               "the number of threads is not a multiple of the warp size");
  const bool waits = form.kind != BarrierForm::Kind::kArrive;
  arrival = {which, threads, active, lanes_for(warp, form, active), waits};
  if (waits) return paths.block(warp, Split::State::kAtBarrier, active, 0, which);
  ++warp.now.pc;
  return true;
}

void note_arrival(WarpState& warp, Divergence& paths, const Operation& op, const Arrival& arrival,
                  std::uint32_t counted) {
  if (!warp.machine->kernel.barriers()[op.detail].counted) counted = 0;
  if (arrival.waits) return note_wait(warp, paths, counted);
  note_events(warp, warp.now.pc - 1, arrival.lanes, {static_cast<std::uint8_t>(arrival.barrier), counted, 0});
}

void note_barrier(WarpState& warp, Divergence& paths, std::uint32_t which, std::uint64_t arrived) {
  LaneMask lanes = 0;
  std::uint32_t pc = 0, counted = 0;
  for (Split& split : paths.others()) {
    if (!split.owes_record || split.barrier != which || (split.counted != 0 && arrived == 0)) continue;
    split.owes_record = false;
    lanes |= split.mask;
    counted += split.counted;
    pc = split.pc;
  }
  if (lanes == 0) return;
  if (counted != 0) return note_events(warp, pc, lanes, {static_cast<std::uint8_t>(which), counted, arrived});
  warp.record->records.push_back(trace::Record::make(pc, trace::AddressForm::kNone, lanes));
}

void release_barrier(WarpState& warp, Divergence& paths, std::uint32_t which, const Reduced& reduced) {
  if (warp.record) note_barrier(warp, paths, which, reduced.arrived);
  for (Split& split : paths.others()) {
    if (split.state != Split::State::kAtBarrier || split.barrier != which) continue;
    const Operation& op = warp.operations[split.pc];
    const auto kind = warp.machine->kernel.barriers()[op.detail].kind;
    if (op.destinations != 0 && warp.operands[op.operands].exists()) {
      const std::uint64_t value = kind == BarrierForm::Kind::kAnd  ? reduced.all
                                  : kind == BarrierForm::Kind::kOr ? reduced.any
                                                                   : reduced.count;
      LaneValues& to = warp.row(warp.frames[split.frame], warp.operands[op.operands].index());
      for_lanes(split.mask, [&](int l) { to.lane[l] = value; });
    }
    Divergence::release(split);
  }
}

}  // namespace lockstep::exec
