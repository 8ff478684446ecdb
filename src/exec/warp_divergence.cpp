#include "exec/warp_divergence.hpp"

#include <bit>
#include <utility>

namespace lockstep::exec {

void Divergence::start(LaneMask live, std::uint32_t pc) {
  Split all;
  all.pc = pc;
  all.mask = live;
  splits_.assign(1, all);
  points_.assign(1, ReconvergencePoint{kNowhere, 0, 0, live, 0});
}

bool Divergence::pick(WarpState& warp) {
  for (std::size_t i = splits_.size(); i-- > 0;) {
    if (splits_[i].state != Split::State::kReady || splits_[i].spun) continue;
    Split& now = warp.now;
    now = splits_[i];
    splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::size_t j = splits_.size(); j-- > 0;) {
      const Split& other = splits_[j];
      if (other.state != Split::State::kReady || other.pc != now.pc || other.point != now.point ||
          other.frame != now.frame)
        continue;
      now.mask |= other.mask;
      splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(j));
    }
    return true;
  }
  return false;
}

bool Divergence::forget_spun() {
  bool any = false;
  for (Split& split : splits_) any |= std::exchange(split.spun, false);
  return any;
}

void Divergence::split_off(WarpState& warp, LaneMask lanes, std::uint32_t pc) {
  Split& other = splits_.emplace_back();
  other.pc = pc;
  other.point = warp.now.point;
  other.frame = warp.now.frame;
  other.mask = lanes;
  warp.now.mask &= ~lanes;
}

void Divergence::add_reconvergence_point(WarpState& warp, std::uint32_t at) {
  Split& now = warp.now;
  const ReconvergencePoint& current = points_[now.point];
  if (at == kNowhere || (current.at == at && current.frame == now.frame)) return;
  std::size_t free = 1;
  while (free < points_.size() && points_[free].expected != 0) ++free;
  if (free == points_.size()) points_.emplace_back();
  points_[free] = {at, now.frame, now.point, now.mask, 0};
  now.point = static_cast<std::uint32_t>(free);
  if (at != kAtReturn) reconvergence_pc_ = at;
}

void Divergence::branch(WarpState& warp, const Operation& op, LaneMask taken) {
  Split& now = warp.now;
  if (taken == 0) {
    ++now.pc;
  } else if (taken == now.mask) {
    now.pc = op.target;
  } else {
    add_reconvergence_point(warp, op.meet);
    split_off(warp, taken, op.target);
    ++now.pc;
  }
}

void Divergence::branch_table(WarpState& warp, const Operation& op, LaneMask active) {
  Split& now = warp.now;
  if (active != now.mask) {
    add_reconvergence_point(warp, op.meet);
    split_off(warp, now.mask & ~active, now.pc + 1);
  }
  if (now.mask == 0) return;
  const auto& targets = warp.machine->kernel.branches()[op.detail].targets;
  const LaneValues& index = *warp.at(warp.operands[op.operands]);
  LaneMask left = now.mask;
  while (left != 0) {
    const std::uint32_t which = static_cast<std::uint32_t>(index.lane[std::countr_zero(left)]);
    LaneMask same = 0;
    for_lanes(left, [&](int l) {
      if (static_cast<std::uint32_t>(index.lane[l]) == which) same |= LaneMask{1} << l;
    });
    if (which >= targets.size())
      warp.fault(FaultKind::kIllegalInstruction, same, 0, "index outside the branch table");
    left &= ~same;
    if (left == 0) {
      now.pc = targets[which];
    } else {
      add_reconvergence_point(warp, op.meet);
      split_off(warp, same, targets[which]);
    }
  }
}

void Divergence::wait_at_return(WarpState& warp, LaneMask lanes) {
  add_reconvergence_point(warp, kAtReturn);
  points_[warp.now.point].arrived |= lanes;
  warp.now.mask &= ~lanes;
}

/// The lanes that have reconverged continue at the point.
void Divergence::go_on(WarpState& warp, std::uint32_t point, LaneMask lanes, Split& split) const {
  const ReconvergencePoint& met = points_[point];
  split = {};
  split.mask = lanes;
  split.point = met.parent;
  split.frame = met.frame;
  split.pc = met.at;
  if (met.at == kAtReturn) pop_frame(warp, split);
}

bool Divergence::arrive(WarpState& warp) {
  const std::uint32_t index = warp.now.point;
  ReconvergencePoint& point = points_[index];
  point.arrived |= warp.now.mask;
  if (point.arrived != point.expected) return false;
  go_on(warp, index, point.expected, warp.now);
  point.expected = 0;
  enter(warp);
  return true;
}

void Divergence::kill(WarpState& warp, LaneMask lanes) {
  warp.live &= ~lanes;
  for (Frame& frame : warp.frames) frame.lanes &= ~lanes;
  for (ReconvergencePoint& point : points_) {
    point.expected &= ~lanes;
    point.arrived &= ~lanes;
  }
  settle_reconvergence(warp);
}

/// Reconvergence points whose missing lanes have all exited.
void Divergence::settle_reconvergence(WarpState& warp) {
  for (std::uint32_t i = 1; i < points_.size(); ++i) {
    const LaneMask lanes = points_[i].expected;
    if (lanes == 0 || points_[i].arrived != lanes) continue;
    Split split;
    go_on(warp, i, lanes, split);
    points_[i].expected = 0;
    splits_.push_back(split);
  }
}

bool Divergence::block(WarpState& warp, Split::State state, LaneMask lanes, LaneMask members,
                       std::uint32_t barrier) {
  Split waiting = warp.now;
  waiting.state = state;
  waiting.mask = lanes;
  waiting.members = members;
  waiting.barrier = barrier;
  waiting.spins = 0;
  if (state == Split::State::kAtBarrier || state == Split::State::kAtCluster ||
      state == Split::State::kAtWarpgroup)
    warp.polls.forget();
  splits_.push_back(waiting);
  warp.now.mask &= ~lanes;
  ++warp.now.pc;
  return warp.now.mask != 0;
}

void Divergence::release_lanes(std::size_t i, LaneMask lanes) {
  if (const LaneMask left = splits_[i].mask & ~lanes; left != 0) {
    Split rest = splits_[i];
    rest.mask = left;
    splits_[i].mask &= lanes;
    splits_.push_back(rest);
  }
  release(splits_[i]);
}

bool Divergence::release_reconvergence(WarpState& warp, Hold hold) {
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
  for (std::uint32_t i = static_cast<std::uint32_t>(points_.size()); i-- > 1;) {
    const ReconvergencePoint point = points_[i];
    if (point.arrived == 0 || (point.expected & held) == 0) continue;
    Split split;
    go_on(warp, i, point.arrived, split);
    points_[i].expected &= ~point.arrived;
    points_[i].arrived = 0;
    splits_.push_back(split);
    released = true;
  }
  return released;
}

void Divergence::add_to(Fingerprint& print) const {
  const auto add = [&](auto... words) { (print.add(static_cast<std::uint64_t>(words)), ...); };
  add(splits_.size());
  for (const Split& s : splits_) {
    add(s.state, s.spun, s.locks, s.spins, s.pc, s.point, s.frame, s.mask, s.members, s.barrier);
    add(s.poll_pc[0], s.poll_pc[1], s.poll[0], s.poll[1]);
  }
  for (const ReconvergencePoint& m : points_) add(m.at, m.frame, m.parent, m.expected, m.arrived);
}

}  // namespace lockstep::exec
