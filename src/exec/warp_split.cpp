// How the lanes of a warp part and meet again; the scheme is explained in warp.hpp.
#include <bit>

#include "exec/cta.hpp"
#include "exec/warp.hpp"

namespace lockstep::exec {

/// Pointers and limits that depend on the frame and meeting of now_.
void Warp::enter_frame() {
  const Frame& frame = frames_[now_.frame];
  bases_[static_cast<unsigned>(Home::kRegister)] = file_.data() + first_row_ + frame.base;
  bases_[static_cast<unsigned>(Home::kFixed)] = file_.data();
  bases_[static_cast<unsigned>(Home::kConstant)] =
      const_cast<LaneSlots*>(machine_->kernel.constants().data());
  frame_local_ = frame.local;
  const Meeting& meeting = meetings_[now_.meeting];
  meet_ = meeting.frame == now_.frame && meeting.at != kAtReturn ? meeting.at : kNowhere;
}

/// `lanes` of now_ go on at `pc` as a split of their own, after the others of now_ stopped.
void Warp::split_off(LaneMask lanes, std::uint32_t pc) {
  Split& other = splits_.emplace_back();
  other.pc = pc;
  other.meeting = now_.meeting;
  other.frame = now_.frame;
  other.mask = lanes;
  now_.mask &= ~lanes;
}

/// now_'s lanes are to meet at `at`; nothing to do where they already are.
void Warp::open_meeting(std::uint32_t at) {
  const Meeting& current = meetings_[now_.meeting];
  if (at == kNowhere || (current.at == at && current.frame == now_.frame)) return;
  std::size_t free = 1;
  while (free < meetings_.size() && meetings_[free].expected != 0) ++free;
  if (free == meetings_.size()) meetings_.emplace_back();
  meetings_[free] = {at, now_.frame, now_.meeting, now_.mask, 0};
  now_.meeting = static_cast<std::uint32_t>(free);
  if (at != kAtReturn) meet_ = at;
}

void Warp::branch(const Operation& op, LaneMask taken) {
  if (taken == 0) {
    ++now_.pc;
  } else if (taken == now_.mask) {
    now_.pc = op.target;
  } else {
    open_meeting(op.meet);
    split_off(taken, op.target);
    ++now_.pc;
  }
}

void Warp::branch_table(const Operation& op, LaneMask active) {
  if (active != now_.mask) {
    open_meeting(op.meet);
    split_off(now_.mask & ~active, now_.pc + 1);
  }
  if (now_.mask == 0) return;
  const auto& targets = machine_->kernel.branches()[op.detail].targets;
  const LaneSlots& index = *at(slots_[op.operands]);
  LaneMask left = now_.mask;
  while (left != 0) {
    const std::uint32_t which = static_cast<std::uint32_t>(index.lane[std::countr_zero(left)]);
    LaneMask same = 0;
    for (LaneMask rest = left; rest != 0; rest &= rest - 1)
      if (static_cast<std::uint32_t>(index.lane[std::countr_zero(rest)]) == which) same |= rest & (0 - rest);
    if (which >= targets.size())
      fault(FaultKind::kIllegalInstruction, same, 0, "index outside the branch table");
    left &= ~same;
    if (left == 0) {
      now_.pc = targets[which];
    } else {
      open_meeting(op.meet);
      split_off(same, targets[which]);
    }
  }
}

/// Lanes that met go on behind the meeting.
void Warp::go_on(std::uint32_t meeting, LaneMask lanes, Split& split) {
  const Meeting met = meetings_[meeting];
  split = {};
  split.mask = lanes;
  split.meeting = met.parent;
  split.frame = met.frame;
  split.pc = met.at;
  if (met.at == kAtReturn) leave_frame(split);
}

/// now_ has reached its meeting. True: all are there, now_ goes on with them.
bool Warp::arrive() {
  Meeting& meeting = meetings_[now_.meeting];
  meeting.arrived |= now_.mask;
  if (meeting.arrived != meeting.expected) return false;
  const std::uint32_t index = now_.meeting;
  const LaneMask lanes = meeting.expected;
  go_on(index, lanes, now_);
  meetings_[index].expected = 0;
  enter_frame();
  return true;
}

void Warp::kill(LaneMask lanes) {
  if (lanes == 0) return;
  live_ &= ~lanes;
  for (Frame& frame : frames_) frame.lanes &= ~lanes;
  for (Meeting& meeting : meetings_) {
    meeting.expected &= ~lanes;
    meeting.arrived &= ~lanes;
  }
  settle_meetings();
  settle_sync();
  cta_->lanes_exited();
}

/// Meetings that waited only for lanes that are gone.
void Warp::settle_meetings() {
  for (std::uint32_t i = 1; i < meetings_.size(); ++i) {
    const LaneMask lanes = meetings_[i].expected;
    if (lanes == 0 || meetings_[i].arrived != lanes) continue;
    Split split;
    go_on(i, lanes, split);
    meetings_[i].expected = 0;
    splits_.push_back(split);
  }
}

bool Warp::release_meetings(Hold hold) {
  const auto holds = [hold](const Split& split) {
    switch (split.state) {
      case Split::State::kReady:
        return hold == Hold::kSpin || (hold == Hold::kLock && split.locks);
      case Split::State::kAtBarrier:
      case Split::State::kAtWarpBarrier:
      case Split::State::kAtSync:
        return hold == Hold::kBarrier;
      case Split::State::kAtCluster:
      case Split::State::kAtWarpgroup:
        return false;
    }
    return false;
  };
  LaneMask held = 0;
  for (const Split& split : splits_)
    if (holds(split)) held |= split.mask;
  bool released = false;
  for (std::uint32_t i = static_cast<std::uint32_t>(meetings_.size()); i-- > 1;) {
    const Meeting meeting = meetings_[i];
    if (meeting.arrived == 0 || (meeting.expected & held) == 0) continue;
    Split split;
    print_.reset();
    go_on(i, meeting.arrived, split);
    meetings_[i].expected &= ~meeting.arrived;
    meetings_[i].arrived = 0;
    splits_.push_back(split);
    released = true;
  }
  return released;
}

}  // namespace lockstep::exec
