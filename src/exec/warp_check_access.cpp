#include "exec/warp_check_access.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace lockstep::exec {

namespace {

using Values = std::array<std::array<std::byte, WarpAccess::kMaxBytes>, kLanes>;

static_assert(WarpAccess::kMaxBytes >= kMaxAccessBytes);
constexpr Address kSharedOffset = (Address{1} << kSharedRankShift) - 1;

Space space_at(StateSpace state_space, Address a) {
  switch (state_space) {
    case StateSpace::kGlobal:
      return Space::kGlobal;
    case StateSpace::kShared:
      return Space::kShared;
    case StateSpace::kLocal:
    case StateSpace::kFrame:
      return Space::kLocal;
    case StateSpace::kParameter:
      return Space::kParam;
    case StateSpace::kGeneric:
      break;
  }
  return exec::space_of(a);
}

/// In its space, of a generic address.
Address offset_of(Space space, StateSpace state_space, Address a) {
  if (state_space != StateSpace::kGeneric || space == Space::kGlobal) return a;
  return a - (space == Space::kShared ? kSharedWindow : space == Space::kLocal ? kLocalWindow : kParamWindow);
}

}  // namespace

void place_access(WarpState& warp, StateSpace state_space, const Addresses& a, WarpAccess& access) {
  access.warp = warp.index;
  access.operation = warp.now.pc;
  for_lanes(access.mask, [&](int l) {
    LaneAccess& lane = access.lanes[static_cast<unsigned>(l)];
    lane.space = space_at(state_space, a.lane[l]);
    lane.address = offset_of(lane.space, state_space, a.lane[l]);
    if (lane.space == Space::kParam) access.mask &= ~(LaneMask{1} << l);
    if (lane.space == Space::kLocal) {
      const std::uint64_t end = lane.address + access.bytes;
      const Frame& frame = warp.frames[warp.now.frame];
      const std::uint64_t top = frame.local + warp.machine->kernel.functions()[frame.function].frame_bytes;
      const std::uint64_t stack = warp.local.top(static_cast<std::uint32_t>(l));
      lane.inside = lane.address < kStackOffset ? end <= top : end <= stack;
    }
    if (lane.space != Space::kShared) return;
    const Address rank = lane.address >> kSharedRankShift;
    const CtaState* const owner = rank == 0 ? warp.cta : warp.cta->peer(rank - 1);
    lane.owner = owner ? owner->checked : nullptr;
    lane.address &= kSharedOffset;
  });
}

void check_lanes(WarpState& warp, StateSpace state_space, const Addresses& a, WarpAccess& access) {
  place_access(warp, state_space, a, access);
  warp.machine->check->access(*warp.cta->checked, access);
}

void check_access(WarpState& warp, const MemoryForm& form, LaneMask active, AccessKind kind) {
  if (form.state_space == StateSpace::kParameter) return;
  Addresses a;
  find_addresses(warp, form, a);
  WarpAccess access;
  access.kind = kind;
  access.mask = active;
  access.bytes = std::uint32_t{form.bytes} * form.count;
  access.strong = warp.machine->check->traits(warp.now.pc).strong;
  check_lanes(warp, form.state_space, a, access);
}

void check_store(WarpState& warp, const Operation& op, LaneMask active) {
  const MemoryForm& form = warp.machine->kernel.memory()[op.detail];
  Addresses a;
  find_addresses(warp, form, a);
  WarpAccess access;
  access.kind = AccessKind::kWrite;
  access.mask = active;
  access.bytes = std::uint32_t{form.bytes} * form.count;
  access.strong = warp.machine->check->traits(warp.now.pc).strong;
  place_access(warp, form.state_space, a, access);
  Values values;
  access.values = values.data();
  for_lanes(access.mask, [&](int l) {
    LaneAccess& lane = access.lanes[static_cast<unsigned>(l)];
    lane.memory = resolve_one(warp, form.state_space, static_cast<std::uint32_t>(l), access.bytes, a.lane[l]);
    for (unsigned i = 0; i < form.count; ++i) {
      const LaneValues* const from = warp.at(warp.operands[op.operands + i]);
      std::byte* const to = values[static_cast<unsigned>(l)].data() + std::size_t{i} * form.bytes;
      std::memcpy(to, &from->lane[l], std::min<std::size_t>(form.bytes, sizeof(std::uint64_t)));
      if (form.bytes == 16) std::memcpy(to + 8, &from[1].lane[l], 8);
    }
  });
  warp.machine->check->access(*warp.cta->checked, access);
}

void check_multimem(WarpState& warp, const Operation& op, LaneMask active) {
  using Kind = MultimemForm::Kind;
  const MemoryForm& form = warp.machine->kernel.memory()[op.detail];
  const Kind kind = warp.machine->kernel.multimems()[op.second].kind;
  Addresses from;
  find_addresses(warp, form, from);
  std::array<MulticastWindows::Places, kLanes> places;
  unsigned most = 0;
  for_lanes(active, [&](int l) {
    places[static_cast<unsigned>(l)] =
        warp.machine->memory.multicast().places(from.lane[l], warp.machine->launch.device);
    most = std::max(most, places[static_cast<unsigned>(l)].count);
  });
  for (unsigned p = 0; p < most; ++p) {
    WarpAccess access;
    access.kind = kind == Kind::kLoadReduce ? AccessKind::kRead
                  : kind == Kind::kStore    ? AccessKind::kWrite
                                            : AccessKind::kAtomic;
    access.bytes = std::uint32_t{form.bytes} * form.count;
    access.strong = warp.machine->check->traits(warp.now.pc).strong;
    Addresses of_device;
    for_lanes(active, [&](int l) {
      const MulticastWindows::Places& lane = places[static_cast<unsigned>(l)];
      of_device.lane[l] = lane.at[p];
      if (p < lane.count && lane.problem == MulticastWindows::Places::Problem::kNone)
        access.mask |= LaneMask{1} << l;
    });
    check_lanes(warp, StateSpace::kGlobal, of_device, access);
  }
}

}  // namespace lockstep::exec
