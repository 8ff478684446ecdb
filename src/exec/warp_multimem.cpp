#include "exec/warp_multimem.hpp"

#include <fmt/format.h>

#include <cstring>

#include "exec/warp_access.hpp"
#include "exec/warp_poll.hpp"
#include "exec/warp_wait.hpp"

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

/// In the order of the devices.
void load_reduce(WarpState& warp, const Operation& op, std::uint32_t lane, const Places& places) {
  const MemoryForm& form = warp.machine->kernel.memory()[op.detail];
  const MultimemReduction& how = warp.machine->kernel.multimems()[op.second].reduction;
  if (warp.machine->watch.on())
    for (unsigned p = 0; p < places.count; ++p)
      warp.machine->watch.read(places.at[p], std::uint32_t{form.bytes} * form.count);
  for (unsigned i = 0; i < form.count; ++i) {
    const OperandRef to = warp.operands[op.operands + i];
    if (!to.exists()) continue;
    std::uint64_t sum = 0;
    for (unsigned p = 0; p < places.count; ++p) {
      std::uint64_t value = read_element(places.at[p] + std::size_t{i} * form.bytes, form.bytes);
      if (how.widen) value = how.widen(value);
      sum = p == 0 ? value : how.fold(sum, value, 0);
    }
    warp.at(to)->lane[lane] = how.narrow ? how.narrow(sum) : sum;
  }
}

/// multimem.st and multimem.red.
void store_to_all(WarpState& warp, const Operation& op, std::uint32_t lane, const Places& places) {
  const MemoryForm& form = warp.machine->kernel.memory()[op.detail];
  const MultimemForm& what = warp.machine->kernel.multimems()[op.second];
  for (unsigned i = 0; i < form.count; ++i) {
    const std::uint64_t given = warp.at(warp.operands[op.operands + i])->lane[lane];
    for (unsigned p = 0; p < places.count; ++p) {
      const Address to = places.at[p] + std::size_t{i} * form.bytes;
      const std::uint64_t old = read_element(to, form.bytes);
      const std::uint64_t value =
          what.kind == MultimemForm::Kind::kStore ? given : what.reduction.fold(old, given, 0);
      if (std::memcmp(&value, &old, form.bytes) == 0) continue;
      ++warp.machine->watch.changes;
      std::memcpy(reinterpret_cast<void*>(to), &value, form.bytes);
    }
  }
}

/// The words of every device that a write touches.
std::vector<Address> multicast_words(const WarpState& warp, LaneMask active, const Addresses& a,
                                     std::uint32_t bytes) {
  std::vector<Address> words;
  Addresses of_device;
  for (unsigned device = 0, most = 1; device < most; ++device) {
    LaneMask there = 0;
    for_lanes(active, [&](int l) {
      const auto places = multimem_places(warp, static_cast<std::uint32_t>(l), bytes, a.lane[l]);
      most = std::max(most, places.count);
      if (device < places.count) there |= LaneMask{1} << l;
      of_device.lane[l] = places.at[device];
    });
    const std::vector<Address> of_this = signal_words(warp, there, of_device, bytes);
    words.insert(words.end(), of_this.begin(), of_this.end());
  }
  return words;
}

}  // namespace

Places multimem_places(const WarpState& warp, std::uint32_t lane, std::uint32_t bytes, Address address) {
  if ((address & (bytes - 1)) != 0)
    warp.fault(FaultKind::kMisalignedAddress, LaneMask{1} << lane, address, {});
  const unsigned device = warp.machine->launch.device;
  const Places places = warp.machine->memory.multicast().places(address, device);
  if (places.problem != Places::Problem::kNone)
    warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << lane, address, why(places, device));
  return places;
}

void execute_multimem(WarpState& warp, const Operation& op, LaneMask active) {
  const MemoryForm& form = warp.machine->kernel.memory()[op.detail];
  const bool loads = warp.machine->kernel.multimems()[op.second].kind == MultimemForm::Kind::kLoadReduce;
  const std::uint32_t bytes = std::uint32_t{form.bytes} * form.count;
  Access access;
  if (!locate(warp, form, active, bytes, access)) return;
  const bool signals = form.signals && warp.machine->options.signals;
  std::vector<Address> words;
  if (signals) {
    words = multicast_words(warp, active, access.addresses, bytes);
    before_signal(warp, words);
  }
  for_lanes(active, [&](int l) {
    const auto lane = static_cast<std::uint32_t>(l);
    const Places places = multimem_places(warp, lane, bytes, access.addresses.lane[l]);
    loads ? load_reduce(warp, op, lane, places) : store_to_all(warp, op, lane, places);
  });
  if (signals) after_signal(warp, words);
  if (form.polls && warp.operands[op.operands].exists())
    note_poll(warp, active, access.addresses, *warp.at(warp.operands[op.operands]), false);
}

}  // namespace lockstep::exec
