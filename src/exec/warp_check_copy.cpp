#include "exec/warp_check_copy.hpp"

#include <algorithm>

#include "exec/warp_check_access.hpp"
#include "exec/warp_multicast.hpp"

namespace lockstep::exec {

namespace {

/// One side of a copy: an address in a space.
struct End {
  StateSpace state_space;
  Address address;
};

/// One lane's copy of bytes that is asynchronous on hardware: legal? races? And its bytes are as written as
/// where they come from. `reads`: 0 where it only writes zeros.
void check_copy(WarpState& warp, std::uint32_t lane, const End& to, const End& from, std::uint32_t bytes,
                std::uint32_t reads, bool reduces) {
  LaunchCheck& checks = *warp.machine->check;
  WarpAccess read, write;
  read.copies = write.copies = true;
  read.aligned = write.aligned = false;  // the executor faults
  read.mask = write.mask = LaneMask{1} << lane;
  read.bytes = reads;
  write.bytes = bytes;
  write.kind = reduces ? AccessKind::kAtomic : AccessKind::kWrite;
  Addresses a;
  a.lane[lane] = from.address;
  if (reads != 0) check_lanes(warp, from.state_space, a, read);
  a.lane[lane] = to.address;
  check_lanes(warp, to.state_space, a, write);
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

}  // namespace

void check_copy_async(WarpState& warp, const Operation& op, LaneMask active) {
  const CopyForm& form = warp.machine->kernel.copies()[op.detail];
  if (form.prefetch) return;
  const MemoryForm &from_form = warp.machine->kernel.memory()[form.from],
                   &to_form = warp.machine->kernel.memory()[form.to];
  Addresses from, to;
  find_addresses(warp, from_form, from);
  find_addresses(warp, to_form, to);
  for_lanes(active, [&](int l) {
    const bool ignored = form.ignore.exists() && (warp.at(form.ignore)->lane[l] & 1) != 0;
    const std::uint32_t size =
        form.size.exists() ? static_cast<std::uint32_t>(warp.at(form.size)->lane[l]) : form.bytes;
    check_copy(warp, static_cast<std::uint32_t>(l), {to_form.state_space, to.lane[l]},
               {from_form.state_space, from.lane[l]}, form.bytes, ignored ? 0 : std::min(size, form.bytes),
               false);
  });
}

void check_copy_bulk(WarpState& warp, const Operation& op, LaneMask active) {
  const CopyForm& form = warp.machine->kernel.copies()[op.detail];
  if (form.prefetch) return;
  const auto& memory = warp.machine->kernel.memory();
  Addresses from, to;
  find_addresses(warp, memory[form.from], from);
  find_addresses(warp, memory[form.to], to);
  for_lanes(active, [&](int l) {
    const auto lane = static_cast<std::uint32_t>(l);
    const auto bytes = static_cast<std::uint32_t>(warp.at(form.size)->lane[l]);
    const auto check = [&](Address target, std::uint32_t done) {
      check_copy(warp, lane, {memory[form.to].state_space, target},
                 {memory[form.from].state_space, from.lane[l] + done}, CopyForm::kUnitBytes,
                 CopyForm::kUnitBytes, form.reduction != nullptr);
    };
    each_target(warp, form.multicast, lane, to.lane[l], 0, [&](Address target, Address) {
      for (std::uint32_t done = 0; done < bytes; done += CopyForm::kUnitBytes) {
        if (!form.multimem) {
          check(target + done, done);
          continue;
        }
        const auto places =
            warp.machine->memory.multicast().places(target + done, warp.machine->launch.device);
        for (unsigned p = 0; p < places.count; ++p) check(places.at[p], done);
      }
    });
  });
}

void check_tensor_unit(WarpState& warp, const TensorForm& form, std::uint32_t lane, Address unit,
                       std::uint32_t skip, Address element, std::uint32_t bytes) {
  const StateSpace state_space = warp.machine->kernel.memory()[form.shared].state_space;
  if (!form.store)
    check_copy(warp, lane, {state_space, unit}, {StateSpace::kGlobal, element}, CopyForm::kUnitBytes, 0,
               false);
  if (bytes == 0) return;
  if (form.store)
    check_copy(warp, lane, {StateSpace::kGlobal, element}, {state_space, unit + skip}, bytes, bytes,
               form.reduces);
  else
    check_copy(warp, lane, {state_space, unit + skip}, {StateSpace::kGlobal, element}, bytes, bytes, false);
}

void check_tensor_map(WarpState& warp, const Operation& op, LaneMask active) {
  const MemoryForm& form =
      warp.machine->kernel.memory()[warp.machine->kernel.tensor_maps()[op.detail].object];
  WarpAccess access;
  access.mask = active;
  Addresses a;
  find_addresses(warp, form, a);
  place_access(warp, form.state_space, a, access);
  for_lanes(access.mask, [&](int l) {
    const LaneAccess& lane = access.lanes[static_cast<unsigned>(l)];
    const bool shared = lane.space == Space::kShared;
    if (shared && (!lane.owner || lane.address + kTensorMapBytes > lane.owner->written.size() * 64)) return;
    warp.machine->check->write({shared ? lane.owner : nullptr, lane.address}, kTensorMapBytes);
  });
}

}  // namespace lockstep::exec
