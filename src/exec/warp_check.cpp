// What a warp tells the checks of its launch before each of its operations.
#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/check/launch_check.hpp"
#include "exec/cta.hpp"
#include "exec/lane_loop.hpp"
#include "exec/warp.hpp"

namespace lockstep::exec {

namespace {

using Kind = AccessKind;
using Values = std::array<std::array<std::byte, WarpAccess::kMostBytes>, kLanes>;

static_assert(WarpAccess::kMostBytes >= kMostAccessBytes);
constexpr std::uint32_t kMbarrierBytes = 8, kRowBytes = 16, kRowsOfMatrix = 8;
constexpr Address kSharedOffset = (Address{1} << kSharedRankShift) - 1;

Space space_of(Reach reach, Address a) {
  switch (reach) {
    case Reach::kGlobal:
      return Space::kGlobal;
    case Reach::kShared:
      return Space::kShared;
    case Reach::kLocal:
    case Reach::kFrame:
      return Space::kLocal;
    case Reach::kParameter:
      return Space::kParam;
    case Reach::kGeneric:
      break;
  }
  return exec::space_of(a);
}

/// In its space, of a generic address.
Address offset_of(Space space, Reach reach, Address a) {
  if (reach != Reach::kGeneric || space == Space::kGlobal) return a;
  return a - (space == Space::kShared ? kSharedWindow : space == Space::kLocal ? kLocalWindow : kParamWindow);
}

}  // namespace

void Warp::check(const Operation& op, LaneMask active) {
  LaunchCheck& checks = *machine_->check;
  CtaCheck& cta = cta_->checked();
  checks.run(cta, index_, now_.mask, live_);
  if (active == 0) return;
  const LaunchCheck::Traits traits = checks.traits(now_.pc);
  if (traits.syncs_lanes && op.handler != Handler::kWarpBarrier)
    checks.sync_lanes(cta, index_, active, live_);
  if (traits.fences && op.handler <= Handler::kAtomic) checks.fence(cta, index_, traits.fences_grid);
  switch (op.handler) {
    case Handler::kLoad:
      return check_access(machine_->kernel.memory()[op.detail], active, Kind::kRead);
    case Handler::kStore:
      return check_store(op, active);
    case Handler::kAtomic:
      return check_access(machine_->kernel.memory()[op.detail], active, Kind::kAtomic);
    case Handler::kBarrier:
    case Handler::kWarpBarrier:
    case Handler::kNothing:
    case Handler::kExit:
      return check_sync(op, active);
    case Handler::kCopyAsync:
      return check_copy_async(op, active);
    case Handler::kCopyBulk:
      return check_copy_bulk(op, active);
    case Handler::kMbarrier:
      return check_mbarrier(op, active);
    case Handler::kMatrixMove:
      check_matrix_rows(op, active);
      return checks.sync_lanes(cta, index_, active, live_);  // the lanes access as one
    case Handler::kTensorMap:
      return check_tensor_map(op, active);
    case Handler::kMultimem:
      return check_multimem(op, active);
    default:
      return;
  }
}

/// Barriers, fences, the end of the warp.
void Warp::check_sync(const Operation& op, LaneMask active) {
  LaunchCheck& checks = *machine_->check;
  CtaCheck& cta = cta_->checked();
  if (op.handler == Handler::kBarrier) {
    const auto which = uniform(machine_->kernel.barriers()[op.detail].barrier, active);
    if (which < kBarriers) cta.order.arrive(static_cast<std::uint32_t>(which), index_, checks.now());
  } else if (op.handler == Handler::kWarpBarrier) {
    const auto members = static_cast<LaneMask>(uniform(slots_[op.operands], active)) | active;
    if ((members & live_ & ~active) == 0) checks.sync_lanes(cta, index_, active, live_);
  } else if (op.handler == Handler::kExit) {
    if ((live_ & ~active) == 0) cta.order.exit(index_, checks.now());
  } else if (const auto traits = checks.traits(now_.pc); traits.fences) {
    checks.fence(cta, index_, traits.fences_grid);
  }
}

/// Where the lanes' accesses go.
void Warp::place_access(Reach reach, const Addresses& a, WarpAccess& access) {
  access.warp = index_;
  access.operation = now_.pc;
  for_lanes(access.mask, [&](int l) {
    LaneAccess& lane = access.lanes[static_cast<unsigned>(l)];
    lane.space = space_of(reach, a.lane[l]);
    lane.address = offset_of(lane.space, reach, a.lane[l]);
    if (lane.space == Space::kParam) access.mask &= ~(LaneMask{1} << l);
    if (lane.space == Space::kLocal) {
      const std::uint64_t end = lane.address + access.bytes;
      const Frame& frame = frames_[now_.frame];
      const std::uint64_t top = frame.local + machine_->kernel.functions()[frame.function].frame_bytes;
      const std::uint64_t stack = kStackOffset + stack_tops_.lane[l];
      lane.inside = lane.address < kStackOffset ? end <= top : end <= stack;
    }
    if (lane.space != Space::kShared) return;
    const Address rank = lane.address >> kSharedRankShift;
    Cta* const owner = rank == 0 ? cta_ : cta_->peer(rank - 1);
    lane.owner = owner ? &owner->checked() : nullptr;
    lane.address &= kSharedOffset;
  });
}

void Warp::check_lanes(Reach reach, const Addresses& a, WarpAccess& access) {
  place_access(reach, a, access);
  machine_->check->access(cta_->checked(), access);
}

void Warp::check_access(const MemoryForm& form, LaneMask active, AccessKind kind) {
  if (form.reach == Reach::kParameter) return;
  Addresses a;
  addresses(form, active, a);
  WarpAccess access;
  access.kind = kind;
  access.mask = active;
  access.bytes = std::uint32_t{form.bytes} * form.count;
  access.strong = machine_->check->traits(now_.pc).strong;
  check_lanes(form.reach, a, access);
}

void Warp::check_store(const Operation& op, LaneMask active) {
  const MemoryForm& form = machine_->kernel.memory()[op.detail];
  Addresses a;
  addresses(form, active, a);
  WarpAccess access;
  access.kind = Kind::kWrite;
  access.mask = active;
  access.bytes = std::uint32_t{form.bytes} * form.count;
  access.strong = machine_->check->traits(now_.pc).strong;
  place_access(form.reach, a, access);
  Values values;
  access.values = values.data();
  for_lanes(access.mask, [&](int l) {
    LaneAccess& lane = access.lanes[static_cast<unsigned>(l)];
    lane.memory = resolve_one(form.reach, static_cast<std::uint32_t>(l), access.bytes, a.lane[l]);
    for (unsigned i = 0; i < form.count; ++i) {
      const LaneSlots* const from = at(slots_[op.operands + i]);
      std::byte* const to = values[static_cast<unsigned>(l)].data() + std::size_t{i} * form.bytes;
      std::memcpy(to, &from->lane[l], std::min<std::size_t>(form.bytes, sizeof(std::uint64_t)));
      if (form.bytes == 16) std::memcpy(to + 8, &from[1].lane[l], 8);
    }
  });
  machine_->check->access(cta_->checked(), access);
}

/// One lane's copy of bytes that is asynchronous on hardware: legal? races? And its bytes are as written as
/// where they come from. `reads`: 0 where it only writes zeros.
void Warp::check_copy(std::uint32_t lane, Reach to_reach, Address to, Reach from_reach, Address from,
                      std::uint32_t bytes, std::uint32_t reads, bool reduces) {
  LaunchCheck& checks = *machine_->check;
  WarpAccess read, write;
  read.copies = write.copies = true;
  read.aligned = write.aligned = false;  // the executor faults
  read.mask = write.mask = LaneMask{1} << lane;
  read.bytes = reads;
  write.bytes = bytes;
  write.kind = reduces ? Kind::kAtomic : Kind::kWrite;
  Addresses a;
  a.lane[lane] = from;
  if (reads != 0) check_lanes(from_reach, a, read);
  a.lane[lane] = to;
  check_lanes(to_reach, a, write);
  const LaneAccess &target = write.lanes[lane], &source = read.lanes[lane];
  const auto legal = [](const LaneAccess& l, std::uint32_t count) {
    return l.space == Space::kGlobal ||
           (l.space == Space::kShared && l.owner && l.address + count <= l.owner->written.size() * 64);
  };
  if (!legal(target, bytes)) return;
  CtaCheck* const owner = target.space == Space::kShared ? target.owner : nullptr;
  checks.write({owner, target.address}, bytes);
  if (reads == 0 || reduces || !legal(source, reads)) return;
  checks.copy({owner, target.address},
              {source.space == Space::kShared ? source.owner : nullptr, source.address}, reads);
}

void Warp::check_copy_async(const Operation& op, LaneMask active) {
  const CopyForm& form = machine_->kernel.copies()[op.detail];
  const MemoryForm &from_form = machine_->kernel.memory()[form.from],
                   &to_form = machine_->kernel.memory()[form.to];
  Addresses from, to;
  addresses(from_form, active, from);
  addresses(to_form, active, to);
  for_lanes(active, [&](int l) {
    const bool ignored = form.ignore.exists() && (at(form.ignore)->lane[l] & 1) != 0;
    const std::uint32_t size =
        form.size.exists() ? static_cast<std::uint32_t>(at(form.size)->lane[l]) : form.bytes;
    check_copy(static_cast<std::uint32_t>(l), to_form.reach, to.lane[l], from_form.reach, from.lane[l],
               form.bytes, ignored ? 0 : std::min(size, form.bytes), false);
  });
}

void Warp::check_copy_bulk(const Operation& op, LaneMask active) {
  const CopyForm& form = machine_->kernel.copies()[op.detail];
  const auto& memory = machine_->kernel.memory();
  Addresses from, to;
  addresses(memory[form.from], active, from);
  addresses(memory[form.to], active, to);
  for_lanes(active, [&](int l) {
    const auto lane = static_cast<std::uint32_t>(l);
    const auto bytes = static_cast<std::uint32_t>(at(form.size)->lane[l]);
    const auto check = [&](Address target, std::uint32_t done) {
      check_copy(lane, memory[form.to].reach, target, memory[form.from].reach, from.lane[l] + done, kRowBytes,
                 kRowBytes, form.reduction != nullptr);
    };
    each_target(form.multicast, lane, to.lane[l], 0, [&](Address target, Address) {
      for (std::uint32_t done = 0; done < bytes; done += kRowBytes) {
        if (!form.multimem) {
          check(target + done, done);
          continue;
        }
        const auto places = machine_->memory.multicast().places(target + done, machine_->launch.device);
        for (unsigned p = 0; p < places.count; ++p) check(places.at[p], done);
      }
    });
  });
}

/// One unit of a tensor copy: `bytes` of it, `skip` bytes from its begin, are elements of the tensor.
void Warp::check_tensor_unit(const TensorForm& form, std::uint32_t lane, Address unit, std::uint32_t skip,
                             Address element, std::uint32_t bytes) {
  const Reach reach = machine_->kernel.memory()[form.shared].reach;
  if (!form.store) check_copy(lane, reach, unit, Reach::kGlobal, element, kRowBytes, 0, false);
  if (bytes == 0) return;
  if (form.store)
    check_copy(lane, Reach::kGlobal, element, reach, unit + skip, bytes, bytes, form.reduces);
  else
    check_copy(lane, reach, unit + skip, Reach::kGlobal, element, bytes, bytes, false);
}

void Warp::check_tensor_map(const Operation& op, LaneMask active) {
  const MemoryForm& form = machine_->kernel.memory()[machine_->kernel.tensor_maps()[op.detail].object];
  WarpAccess access;
  access.mask = active;
  Addresses a;
  addresses(form, active, a);
  place_access(form.reach, a, access);
  for_lanes(access.mask, [&](int l) {
    const LaneAccess& lane = access.lanes[static_cast<unsigned>(l)];
    const bool shared = lane.space == Space::kShared;
    if (shared && (!lane.owner || lane.address + kTensorMapBytes > lane.owner->written.size() * 64)) return;
    machine_->check->write({shared ? lane.owner : nullptr, lane.address}, kTensorMapBytes);
  });
}

void Warp::check_mbarrier(const Operation& op, LaneMask active) {
  const MbarrierForm::Kind kind = machine_->kernel.mbarriers()[op.second].kind;
  if (kind == MbarrierForm::Kind::kPending) return;
  const MemoryForm& form = machine_->kernel.memory()[op.detail];
  Addresses a;
  addresses(form, active, a);
  WarpAccess access;
  access.kind = kind == MbarrierForm::Kind::kInit ? Kind::kWrite : Kind::kAtomic;
  access.mask = active;
  access.bytes = kMbarrierBytes;
  access.strong = true;
  check_lanes(form.reach, a, access);
  if (kind == MbarrierForm::Kind::kInit || kind == MbarrierForm::Kind::kTest) return;
  for_lanes(access.mask, [&](int l) { check_signal(access.lanes[static_cast<unsigned>(l)]); });
}

/// An arrival at an mbarrier, or the end of a copy that it waits for.
void Warp::check_signal(const LaneAccess& lane) {
  if (lane.space == Space::kShared && lane.owner == &cta_->checked())
    lane.owner->order.signal(lane.address, index_, machine_->check->now());
}

/// As check_signal(), of an address in the space of `reach`.
void Warp::check_signal(Reach reach, std::uint32_t lane, Address where) {
  WarpAccess access;
  access.mask = LaneMask{1} << lane;
  Addresses a;
  a.lane[lane] = where;
  place_access(reach, a, access);
  check_signal(access.lanes[lane]);
}

/// A test of an mbarrier that found its phase complete.
void Warp::check_wait(Reach reach, LaneMask complete, const Addresses& where) {
  WarpAccess access;
  access.mask = complete;
  place_access(reach, where, access);
  for_lanes(access.mask, [&](int l) {
    const LaneAccess& lane = access.lanes[static_cast<unsigned>(l)];
    if (lane.space == Space::kShared && lane.owner == &cta_->checked())
      lane.owner->order.wait(lane.address, index_);
  });
}

/// ldmatrix and stmatrix: each lane that gives an address stands for its row.
void Warp::check_matrix_rows(const Operation& op, LaneMask active) {
  const MatrixForm& form = machine_->kernel.matrices()[op.second];
  if (form.fragment.registers != 0) return;  // check_matrix_lines()
  Addresses a;
  const MemoryForm& place = machine_->kernel.memory()[op.detail];
  addresses(place, active, a);
  WarpAccess access;
  access.kind = form.store ? Kind::kWrite : Kind::kRead;
  access.mask =
      active & (form.matrices == 4 ? kAllLanes : (LaneMask{1} << form.matrices * kRowsOfMatrix) - 1);
  access.bytes = kRowBytes;
  check_lanes(place.reach, a, access);
}

/// wmma.load and wmma.store: line i of the matrix counts as an access of lane i % 32.
void Warp::check_matrix_lines(const MatrixForm& form, Reach reach, const std::vector<Address>& lines) {
  for (std::size_t first = 0; first < lines.size(); first += kWarpSize) {
    const auto some = static_cast<unsigned>(std::min<std::size_t>(lines.size() - first, kWarpSize));
    WarpAccess access;
    access.kind = form.store ? Kind::kWrite : Kind::kRead;
    access.mask = some == kWarpSize ? kAllLanes : (LaneMask{1} << some) - 1;
    access.bytes = form.line_bytes;
    access.aligned = false;
    Addresses a;
    std::copy_n(lines.begin() + static_cast<std::ptrdiff_t>(first), some, a.lane);
    check_lanes(reach, a, access);
  }
  machine_->check->sync_lanes(cta_->checked(), index_, kAllLanes, live_);  // the lanes access as one
}

}  // namespace lockstep::exec
