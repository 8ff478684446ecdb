// multimem.ld_reduce, multimem.st, multimem.red of a warp.
#include <fmt/format.h>

#include <cstring>

#include "exec/check/launch_check.hpp"
#include "exec/cta.hpp"
#include "exec/lane_loop.hpp"
#include "exec/warp.hpp"

namespace lockstep::exec {

namespace {

using Places = MulticastWindows::Places;

std::uint64_t read_element(Address from, unsigned bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(from), bytes);
  return value;
}

std::string why(const Places& places, unsigned device) {
  using Problem = Places::Problem;
  switch (places.problem) {
    case Problem::kNoWindow:
      return "no multicast object is mapped there, and multimem reaches nothing else";
    case Problem::kClosed:
      return fmt::format("the multicast object is not accessible to device {} there (cuMemSetAccess)",
                         device);
    default:
      return fmt::format("no memory of device {} is bound to the multicast object there", places.device);
  }
}

}  // namespace

/// Where a lane's access goes: at least one place.
Places Warp::multimem_places(std::uint32_t lane, std::uint32_t bytes, Address address) const {
  if ((address & (bytes - 1)) != 0) fault(FaultKind::kMisalignedAddress, LaneMask{1} << lane, address, {});
  const unsigned device = machine_->launch.device;
  const Places places = machine_->memory.multicast().places(address, device);
  if (places.problem != Places::Problem::kNone)
    fault(FaultKind::kIllegalAddress, LaneMask{1} << lane, address, why(places, device));
  return places;
}

void Warp::multimem(const Operation& op, LaneMask active) {
  const MemoryForm& form = machine_->kernel.memory()[op.detail];
  const bool loads = machine_->kernel.multimems()[op.second].kind == MultimemForm::Kind::kLoadReduce;
  const std::uint32_t bytes = std::uint32_t{form.bytes} * form.count;
  KnownAccess& access = known_[kNoPlace];
  if (!locate(form, active, bytes, access)) return;
  const bool signals = form.signals && machine_->options.signals;
  if (signals) before_multicast_signal(active, access.addresses, bytes);
  for_lanes(active, [&](int l) {
    const auto lane = static_cast<std::uint32_t>(l);
    const Places places = multimem_places(lane, bytes, access.addresses.lane[l]);
    loads ? load_reduce(op, lane, places) : store_to_all(op, lane, places);
  });
  if (signals) after_signal();
  if (form.polls && slots_[op.operands].exists())
    note_poll(active, access.addresses, *at(slots_[op.operands]), false);
}

/// In the order of the devices.
void Warp::load_reduce(const Operation& op, std::uint32_t lane, const Places& places) {
  const MemoryForm& form = machine_->kernel.memory()[op.detail];
  const MultimemReduction& how = machine_->kernel.multimems()[op.second].reduction;
  if (machine_->watch.on())
    for (unsigned p = 0; p < places.count; ++p)
      machine_->watch.read(places.at[p], std::uint32_t{form.bytes} * form.count);
  for (unsigned i = 0; i < form.count; ++i) {
    const Slot to = slots_[op.operands + i];
    if (!to.exists()) continue;
    std::uint64_t sum = 0;
    for (unsigned p = 0; p < places.count; ++p) {
      std::uint64_t value = read_element(places.at[p] + std::size_t{i} * form.bytes, form.bytes);
      if (how.widen) value = how.widen(value);
      sum = p == 0 ? value : how.fold(sum, value, 0);
    }
    at(to)->lane[lane] = how.narrow ? how.narrow(sum) : sum;
  }
}

/// multimem.st and multimem.red.
void Warp::store_to_all(const Operation& op, std::uint32_t lane, const Places& places) {
  const MemoryForm& form = machine_->kernel.memory()[op.detail];
  const MultimemForm& what = machine_->kernel.multimems()[op.second];
  for (unsigned i = 0; i < form.count; ++i) {
    const std::uint64_t given = at(slots_[op.operands + i])->lane[lane];
    for (unsigned p = 0; p < places.count; ++p) {
      const Address to = places.at[p] + std::size_t{i} * form.bytes;
      const std::uint64_t old = read_element(to, form.bytes);
      const std::uint64_t value =
          what.kind == MultimemForm::Kind::kStore ? given : what.reduction.fold(old, given, 0);
      if (std::memcmp(&value, &old, form.bytes) == 0) continue;
      ++machine_->watch.changes;
      std::memcpy(reinterpret_cast<void*>(to), &value, form.bytes);
    }
  }
}

/// As accesses of each device's memory. Where there is none, the executor says so.
void Warp::check_multimem(const Operation& op, LaneMask active) {
  using Kind = MultimemForm::Kind;
  const MemoryForm& form = machine_->kernel.memory()[op.detail];
  const Kind kind = machine_->kernel.multimems()[op.second].kind;
  Addresses from;
  addresses(form, active, from);
  std::array<Places, kLanes> places;
  unsigned most = 0;
  for_lanes(active, [&](int l) {
    places[static_cast<unsigned>(l)] =
        machine_->memory.multicast().places(from.lane[l], machine_->launch.device);
    most = std::max(most, places[static_cast<unsigned>(l)].count);
  });
  for (unsigned p = 0; p < most; ++p) {
    WarpAccess access;
    access.kind = kind == Kind::kLoadReduce ? AccessKind::kRead
                  : kind == Kind::kStore    ? AccessKind::kWrite
                                            : AccessKind::kAtomic;
    access.bytes = std::uint32_t{form.bytes} * form.count;
    access.strong = machine_->check->traits(now_.pc).strong;
    Addresses of_device;
    for_lanes(active, [&](int l) {
      const Places& lane = places[static_cast<unsigned>(l)];
      of_device.lane[l] = lane.at[p];
      if (p < lane.count && lane.problem == Places::Problem::kNone) access.mask |= LaneMask{1} << l;
    });
    check_lanes(Reach::kGlobal, of_device, access);
  }
}

}  // namespace lockstep::exec
