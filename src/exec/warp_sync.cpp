// Warp-level synchronisation and the barriers of the CTA.
#include <algorithm>
#include <bit>

#include "exec/check/launch_check.hpp"
#include "exec/cta.hpp"
#include "exec/warp.hpp"

namespace lockstep::exec {

/// `lanes` of now_ wait at its operation; the others go on. True: some are left to go on.
bool Warp::block(Split::State state, LaneMask lanes, LaneMask members, std::uint32_t which) {
  Split waiting = now_;
  waiting.state = state;
  waiting.mask = lanes;
  waiting.members = members;
  waiting.barrier = which;
  waiting.spins = 0;
  if (state == Split::State::kAtBarrier || state == Split::State::kAtCluster ||
      state == Split::State::kAtWarpgroup)
    polls_.forget();
  splits_.push_back(waiting);
  now_.mask &= ~lanes;
  ++now_.pc;
  return now_.mask != 0;
}

/// Executes a member-mask operation for each group of the `present` lanes that is complete. Returns those
/// lanes.
LaneMask Warp::sync_groups(const Operation& op, LaneMask present) {
  if (op.detail == 0) {  // all of the warp
    if ((live_ & ~present) != 0) return 0;
    lane(op, present, present);
    return present;
  }
  const LaneSlots& members = *at(slots_[op.operands + op.destinations + op.sources - 1]);
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
      lane(op, foreign, (present & mask) | foreign);
      done |= foreign;
      group &= mask;
    }
    if (group == 0 || (mask & live_ & ~group) != 0) continue;
    lane(op, group, group);
    done |= group;
  }
  return done;
}

bool Warp::lane_sync(const Operation& op, LaneMask active) {
  if (active == 0) {
    ++now_.pc;
    return true;
  }
  const LaneMask missing = active & ~sync_groups(op, active);
  if (missing == 0) {
    ++now_.pc;
    return true;
  }
  const bool left = block(Split::State::kAtSync, missing, 0, 0);
  settle_sync();
  return left;
}

bool Warp::warp_barrier(const Operation& op, LaneMask active) {
  if (active == 0) {
    ++now_.pc;
    return true;
  }
  const LaneMask members = static_cast<LaneMask>(uniform(slots_[op.operands], active)) | active;
  if ((members & live_ & ~active) == 0) {
    ++now_.pc;
    return true;
  }
  const bool left = block(Split::State::kAtWarpBarrier, active, members, 0);
  settle_sync();
  return left;
}

/// Splits that wait for each other and have all come.
void Warp::settle_sync() {
  LaneMask at_barrier = 0;
  for (const Split& split : splits_)
    if (split.state == Split::State::kAtWarpBarrier) at_barrier |= split.mask;
  for (Split& split : splits_) {
    if (split.state != Split::State::kAtWarpBarrier || (split.members & live_ & ~at_barrier) != 0) continue;
    if (machine_->check) machine_->check->sync_lanes(cta_->checked(), index_, split.members, live_);
    split.state = Split::State::kReady;
    ++split.pc;
  }
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    if (splits_[i].state != Split::State::kAtSync) continue;
    const std::uint32_t pc = splits_[i].pc, base = frames_[splits_[i].frame].base;
    const auto same = [&](const Split& s) {
      return s.state == Split::State::kAtSync && s.pc == pc && frames_[s.frame].base == base;
    };
    LaneMask present = 0;
    for (const Split& split : splits_)
      if (same(split)) present |= split.mask;
    const Split running = now_;
    now_ = splits_[i];
    enter_frame();
    const LaneMask done = sync_groups(operations_[pc], present);
    now_ = running;
    enter_frame();
    if (done == 0) continue;
    if (machine_->check) machine_->check->sync_lanes(cta_->checked(), index_, done, live_);
    const std::size_t count = splits_.size();
    for (std::size_t j = 0; j < count; ++j) {
      if (!same(splits_[j]) || (splits_[j].mask & done) == 0) continue;
      if ((splits_[j].mask & ~done) != 0) {
        Split rest = splits_[j];
        rest.mask &= ~done;
        splits_[j].mask &= done;
        splits_.push_back(rest);
      }
      splits_[j].state = Split::State::kReady;
      ++splits_[j].pc;
    }
  }
}

bool Warp::barrier(const Operation& op, LaneMask active) {
  if (active == 0) {
    ++now_.pc;
    return true;
  }
  const BarrierForm& form = machine_->kernel.barriers()[op.detail];
  const auto which = static_cast<std::uint32_t>(uniform(form.barrier, active));
  const auto threads = form.threads.exists() ? static_cast<std::uint32_t>(uniform(form.threads, active)) : 0;
  if (which >= kBarriers) fault(FaultKind::kIllegalInstruction, active, 0, "no such barrier");
  if (threads % kWarpSize != 0)
    fault(FaultKind::kIllegalInstruction, active, 0, "the number of threads is no multiple of the warp size");
  LaneMask yes = 0;
  if (form.predicate.exists()) {
    const LaneSlots& p = *at(form.predicate);
    for (LaneMask left = active; left != 0; left &= left - 1)
      if (((p.lane[std::countr_zero(left)] & 1) != 0) != form.negated) yes |= left & (0 - left);
  }
  if (form.kind == BarrierForm::Kind::kArrive) {
    if (record_) note(active);
    ++now_.pc;
    cta_->arrive(which, threads, index_, active, yes);
    return true;
  }
  const bool left = block(Split::State::kAtBarrier, active, 0, which);
  if (record_) note_arrival();
  cta_->arrive(which, threads, index_, active, yes);
  return left;
}

/// Of the split that has just come to a barrier. It waits alone while others of the warp go on, but the warp
/// of the timing model waits as a whole: only for the last one. For the others there is a record of no lane.
void Warp::note_arrival() {
  Split& arrived = splits_.back();
  arrived.owes_record = true;
  const bool goes_on = now_.mask != 0 || std::any_of(splits_.begin(), splits_.end(), [](const Split& s) {
                         return s.state == Split::State::kReady;
                       });
  if (!goes_on) return note_barrier(arrived.barrier);
  record_->records.push_back(trace::Record::make(arrived.pc, trace::AddressForm::kNone, 0));
}

/// The record of all splits that wait at the barrier.
void Warp::note_barrier(std::uint32_t which) {
  LaneMask lanes = 0;
  std::uint32_t pc = 0;
  for (Split& split : splits_) {
    if (!split.owes_record || split.barrier != which) continue;
    split.owes_record = false;
    lanes |= split.mask;
    pc = split.pc;
  }
  if (lanes != 0) record_->records.push_back(trace::Record::make(pc, trace::AddressForm::kNone, lanes));
}

void Warp::cluster_arrive(LaneMask active) {
  cluster_arrived_ |= active;
  if (active != 0) cta_->settle_cluster();
}

bool Warp::cluster_wait(LaneMask active) {
  const LaneMask waiting = active & cluster_arrived_;
  if (waiting != 0) return block(Split::State::kAtCluster, waiting, 0, 0);
  ++now_.pc;
  return true;
}

void Warp::release_cluster() {
  print_.reset();
  cluster_arrived_ = 0;
  for (Split& split : splits_) {
    if (split.state != Split::State::kAtCluster) continue;
    split.state = Split::State::kReady;
    ++split.pc;
  }
}

void Warp::release_barrier(std::uint32_t which, const Reduced& reduced) {
  print_.reset();
  if (record_) note_barrier(which);
  for (Split& split : splits_) {
    if (split.state != Split::State::kAtBarrier || split.barrier != which) continue;
    const Operation& op = operations_[split.pc];
    const auto kind = machine_->kernel.barriers()[op.detail].kind;
    if (op.destinations != 0 && slots_[op.operands].exists()) {
      const std::uint64_t value = kind == BarrierForm::Kind::kAnd  ? reduced.all
                                  : kind == BarrierForm::Kind::kOr ? reduced.any
                                                                   : reduced.count;
      LaneSlots& to = row(frames_[split.frame], slots_[op.operands].index());
      for (LaneMask left = split.mask; left != 0; left &= left - 1) to.lane[std::countr_zero(left)] = value;
    }
    split.state = Split::State::kReady;
    ++split.pc;
  }
}

}  // namespace lockstep::exec
