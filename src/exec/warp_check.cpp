#include "exec/warp_check.hpp"

#include <algorithm>

#include "exec/warp_check_access.hpp"
#include "exec/warp_check_copy.hpp"

namespace lockstep::exec {

namespace {

constexpr std::uint32_t kMbarrierBytes = 8;

/// Barriers, fences, the end of the warp.
void check_sync(WarpState& warp, const Operation& op, LaneMask active) {
  LaunchCheck& checks = *warp.machine->check;
  CtaCheck& cta = *warp.cta->checked;
  if (op.handler == Handler::kBarrier) {
    const auto which = warp.uniform(warp.machine->kernel.barriers()[op.detail].barrier, active);
    if (which < kBarriers) cta.order.arrive(static_cast<std::uint32_t>(which), warp.index, checks.now());
  } else if (op.handler == Handler::kWarpBarrier) {
    const auto members = static_cast<LaneMask>(warp.uniform(warp.operands[op.operands], active)) | active;
    if ((members & warp.live & ~active) == 0) checks.sync_lanes(cta, warp.index, active, warp.live);
  } else if (op.handler == Handler::kExit) {
    if ((warp.live & ~active) == 0) cta.order.exit(warp.index, checks.now());
  } else if (const auto traits = checks.traits(warp.now.pc); traits.fences) {
    checks.fence(cta, warp.index, traits.fences_grid);
  }
}

/// An arrival at an mbarrier, or the end of a copy that it waits for.
void check_signal(WarpState& warp, const LaneAccess& lane) {
  if (lane.space == Space::kShared && lane.owner == warp.cta->checked)
    lane.owner->order.signal(lane.address, warp.index, warp.machine->check->now());
}

void check_mbarrier(WarpState& warp, const Operation& op, LaneMask active) {
  const MbarrierForm::Kind kind = warp.machine->kernel.mbarriers()[op.second].kind;
  if (kind == MbarrierForm::Kind::kPending) return;
  const MemoryForm& form = warp.machine->kernel.memory()[op.detail];
  Addresses a;
  find_addresses(warp, form, a);
  WarpAccess access;
  access.kind = kind == MbarrierForm::Kind::kInit ? AccessKind::kWrite : AccessKind::kAtomic;
  access.mask = active;
  access.bytes = kMbarrierBytes;
  access.strong = true;
  check_lanes(warp, form.state_space, a, access);
  if (kind == MbarrierForm::Kind::kInit || kind == MbarrierForm::Kind::kTest) return;
  for_lanes(access.mask, [&](int l) { check_signal(warp, access.lanes[static_cast<unsigned>(l)]); });
}

/// ldmatrix and stmatrix: each lane that gives an address stands for its row.
void check_matrix_rows(WarpState& warp, const Operation& op, LaneMask active) {
  const MatrixForm& form = warp.machine->kernel.matrices()[op.second];
  if (form.fragment.registers != 0) return;  // check_matrix_lines(warp)
  Addresses a;
  const MemoryForm& place = warp.machine->kernel.memory()[op.detail];
  find_addresses(warp, place, a);
  WarpAccess access;
  access.kind = form.store ? AccessKind::kWrite : AccessKind::kRead;
  access.mask =
      active & (form.matrices == 4 ? kAllLanes : (LaneMask{1} << form.matrices * MatrixForm::kRows) - 1);
  access.bytes = MatrixForm::kRowBytes;
  check_lanes(warp, place.state_space, a, access);
}

}  // namespace

void check_operation(WarpState& warp, const Operation& op, LaneMask active) {
  LaunchCheck& checks = *warp.machine->check;
  CtaCheck& cta = *warp.cta->checked;
  checks.run(cta, warp.index, warp.now.mask, warp.live);
  if (active == 0) return;
  const LaunchCheck::Traits traits = checks.traits(warp.now.pc);
  if (traits.syncs_lanes && op.handler != Handler::kWarpBarrier)
    checks.sync_lanes(cta, warp.index, active, warp.live);
  if (traits.fences && op.handler <= Handler::kAtomic) checks.fence(cta, warp.index, traits.fences_grid);
  switch (op.handler) {
    case Handler::kLoad:
      return check_access(warp, warp.machine->kernel.memory()[op.detail], active, AccessKind::kRead);
    case Handler::kStore:
      return check_store(warp, op, active);
    case Handler::kAtomic:
      return check_access(warp, warp.machine->kernel.memory()[op.detail], active, AccessKind::kAtomic);
    case Handler::kBarrier:
    case Handler::kWarpBarrier:
    case Handler::kNothing:
    case Handler::kExit:
      return check_sync(warp, op, active);
    case Handler::kCopyAsync:
      return check_copy_async(warp, op, active);
    case Handler::kCopyBulk:
      return check_copy_bulk(warp, op, active);
    case Handler::kMbarrier:
      return check_mbarrier(warp, op, active);
    case Handler::kMatrixMove:
      check_matrix_rows(warp, op, active);
      return checks.sync_lanes(cta, warp.index, active, warp.live);  // the lanes access as one
    case Handler::kTensorMap:
      return check_tensor_map(warp, op, active);
    case Handler::kMultimem:
      return check_multimem(warp, op, active);
    default:
      return;
  }
}

void check_signal(WarpState& warp, StateSpace state_space, std::uint32_t lane, Address where) {
  WarpAccess access;
  access.mask = LaneMask{1} << lane;
  Addresses a;
  a.lane[lane] = where;
  place_access(warp, state_space, a, access);
  check_signal(warp, access.lanes[lane]);
}

void check_wait(WarpState& warp, StateSpace state_space, LaneMask complete, const Addresses& where) {
  WarpAccess access;
  access.mask = complete;
  place_access(warp, state_space, where, access);
  for_lanes(access.mask, [&](int l) {
    const LaneAccess& lane = access.lanes[static_cast<unsigned>(l)];
    if (lane.space == Space::kShared && lane.owner == warp.cta->checked)
      lane.owner->order.wait(lane.address, warp.index);
  });
}

void check_matrix_lines(WarpState& warp, const MatrixForm& form, StateSpace state_space,
                        const std::vector<Address>& lines) {
  for (std::size_t first = 0; first < lines.size(); first += kWarpSize) {
    const auto some = static_cast<unsigned>(std::min<std::size_t>(lines.size() - first, kWarpSize));
    WarpAccess access;
    access.kind = form.store ? AccessKind::kWrite : AccessKind::kRead;
    access.mask = some == kWarpSize ? kAllLanes : (LaneMask{1} << some) - 1;
    access.bytes = form.line_bytes;
    access.aligned = false;
    Addresses a;
    std::copy_n(lines.begin() + static_cast<std::ptrdiff_t>(first), some, a.lane);
    check_lanes(warp, state_space, a, access);
  }
  warp.machine->check->sync_lanes(*warp.cta->checked, warp.index, kAllLanes,
                                  warp.live);  // the lanes access as one
}

}  // namespace lockstep::exec
