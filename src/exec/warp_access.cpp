#include "exec/warp_access.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "exec/access_set.hpp"

namespace lockstep::exec {

namespace {

/// What is added to the base, and which bits of the sum count.
std::pair<std::uint64_t, std::uint64_t> reach_offset(const WarpState& warp, const MemoryForm& form) {
  const bool narrow = form.state_space != StateSpace::kGlobal && form.state_space != StateSpace::kGeneric;
  return {static_cast<std::uint64_t>(form.offset) +
              (form.state_space == StateSpace::kFrame ? warp.frame_local : 0),
          narrow ? 0xffffffffu : ~std::uint64_t{0}};
}

AddressSpan find_with_span(const WarpState& warp, const MemoryForm& form, LaneMask active,
                           std::uint32_t bytes, Addresses& out) {
  const auto [offset, keep] = reach_offset(warp, form);
  if (form.base.exists())
    return warp.lanes->locate(*warp.at(form.base), offset, keep, active, bytes, out.lane);
  for (auto& a : out.lane) a = offset & keep;
  return {offset & keep, 0, offset & keep, offset & keep, false};
}

/// For a launch whose CTAs run at once. Lanes often come in rows of neighbours, which are noted as one.
void note_global(WarpState& warp, const AddressSpan& span, LaneMask active, std::uint32_t bytes,
                 const Addresses& a, Use use) {
  if (use == Use::kReduce) return;
  const auto note = [&](Address first, std::uint64_t size) { note_range(warp, first, size, use); };
  if (span.neighbours) return note(a.lane[0], std::uint64_t{bytes} * kLanes);
  Address first = a.lane[std::countr_zero(active)], end = first + bytes;
  if (span.differ == 0) return note(first, bytes);
  for_lanes(active & (active - 1), [&](int l) {
    const Address here = a.lane[l];
    if (here + bytes == end) return;  // as the lane before it
    if (here != end) {
      note(first, end - first);
      first = here;
    }
    end = here + bytes;
  });
  note(first, end - first);
}

}  // namespace

void note_range(WarpState& warp, Address first, std::uint64_t bytes, Use use) {
  if (use == Use::kWrite)
    warp.machine->accesses->write(first, bytes);
  else if (use == Use::kRead)
    warp.machine->accesses->read(first, bytes);
}

void find_addresses(const WarpState& warp, const MemoryForm& form, Addresses& out) {
  const auto [offset, keep] = reach_offset(warp, form);
  if (!form.base.exists()) {
    for (auto& a : out.lane) a = offset & keep;
    return;
  }
  const LaneValues& base = *warp.at(form.base);
  for (int l = 0; l < kLanes; ++l) out.lane[l] = (base.lane[l] + offset) & keep;
}

bool locate(WarpState& warp, const MemoryForm& form, LaneMask active, std::uint32_t bytes, Access& out) {
  out.mask = active;
  if (active == 0) {
    if (warp.record) warp.note(active);
    return false;
  }
  out.bytes = bytes;
  out.offset = form.offset;
  out.span = find_with_span(warp, form, active, bytes, out.addresses);
  if (!warp.record) return true;
  out.word = warp.record->words.size();
  warp.note(active, out.addresses, out.span, bytes);
  out.form = warp.record->records.back().form();
  return true;
}

std::byte* resolve_one(WarpState& warp, StateSpace state_space, std::uint32_t l, std::uint32_t bytes,
                       Address a) {
  switch (state_space) {
    case StateSpace::kGlobal:
      return warp.machine->view.accessible(a, bytes) ? reinterpret_cast<std::byte*>(a) : nullptr;
    case StateSpace::kShared: {
      const Address rank = a >> kSharedRankShift;
      CtaState* const owner = rank == 0 ? warp.cta : warp.cta->peer(rank - 1);
      const Address offset = a & ((Address{1} << kSharedRankShift) - 1);
      return owner && offset + bytes <= owner->shared.size() ? owner->shared.data() + offset : nullptr;
    }
    case StateSpace::kLocal:
    case StateSpace::kFrame:
      return warp.local.find(l, a, bytes);
    case StateSpace::kParameter:
      return a + bytes <= warp.machine->parameters.size() ? warp.machine->parameters.data() + a : nullptr;
    case StateSpace::kGeneric:
      break;
  }
  if (in_shared_window(a)) return resolve_one(warp, StateSpace::kShared, l, bytes, a - kSharedWindow);
  if (in_local_window(a)) return resolve_one(warp, StateSpace::kLocal, l, bytes, a - kLocalWindow);
  if (in_param_window(a)) return resolve_one(warp, StateSpace::kParameter, l, bytes, a - kParamWindow);
  return resolve_one(warp, StateSpace::kGlobal, l, bytes, a);
}

std::byte* resolve_together(WarpState& warp, const MemoryForm& form, LaneMask active, std::uint32_t bytes,
                            const Addresses& a, const AddressSpan& span, Use use) {
  if ((span.bits & (std::bit_floor(bytes) - 1)) != 0) return nullptr;
  const Address any = a.lane[std::countr_zero(active)];
  const bool generic = form.state_space == StateSpace::kGeneric;
  if (form.state_space == StateSpace::kGlobal || generic) {
    const std::uint64_t page = (any - kArenaBase) >> DeviceMemory::kPageShift;
    if ((span.differ >> DeviceMemory::kPageShift) == 0 && warp.machine->view.page_mapped(page)) {
      if (warp.machine->accesses) note_global(warp, span, active, bytes, a, use);
      return reinterpret_cast<std::byte*>(any);
    }
  }
  const Address window = generic ? kSharedWindow : 0;
  if ((form.state_space == StateSpace::kShared || generic) &&
      (((any ^ window) | span.differ) >> kSharedRankShift) == 0 &&
      span.highest - window + bytes <= warp.cta->shared.size())
    return warp.cta->shared.data() + (any - window);
  return nullptr;
}

bool resolve(WarpState& warp, const MemoryForm& form, LaneMask active, std::uint32_t bytes,
             const Addresses& a, Use use, Pointers& out) {
  return resolve(warp, form, active, bytes, a, warp.lanes->span(a.lane, active, bytes), use, out);
}

bool resolve(WarpState& warp, const MemoryForm& form, LaneMask active, std::uint32_t bytes,
             const Addresses& a, const AddressSpan& span, Use use, Pointers& out) {
  const std::uint32_t align = std::bit_floor(bytes);
  if ((span.bits & (align - 1)) != 0)
    for_lanes(active, [&](int l) {
      if ((a.lane[l] & (align - 1)) != 0)
        warp.fault(FaultKind::kMisalignedAddress, LaneMask{1} << l, a.lane[l], {});
    });
  if (std::byte* const place = resolve_together(warp, form, active, bytes, a, span, use)) {
    const auto shift = reinterpret_cast<std::uint64_t>(place) - a.lane[std::countr_zero(active)];
    for (int l = 0; l < kLanes; ++l) out.lane[l] = reinterpret_cast<std::byte*>(a.lane[l] + shift);
    return span.neighbours;
  }
  for_lanes(active, [&](int l) {
    out.lane[l] = resolve_one(warp, form.state_space, static_cast<std::uint32_t>(l), bytes, a.lane[l]);
    if (!out.lane[l]) warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << l, a.lane[l], {});
    if (warp.machine->accesses && reinterpret_cast<Address>(out.lane[l]) == a.lane[l])
      note_global(warp, AddressSpan{0, ~std::uint64_t{0}, 0, 0, false}, LaneMask{1} << l, bytes, a, use);
  });
  return false;
}

void watch_reads(WarpState& warp, const MemoryForm& form, LaneMask active, const Addresses& a) {
  const std::uint32_t bytes = std::uint32_t{form.bytes} * form.count;
  for_lanes(active, [&](int l) {
    const std::byte* const at =
        resolve_one(warp, form.state_space, static_cast<std::uint32_t>(l), bytes, a.lane[l]);
    if (at && reinterpret_cast<Address>(at) == a.lane[l]) warp.machine->watch.read(a.lane[l], bytes);
  });
}

void watch_store(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active,
                 const Pointers& to) {
  if (op.second != ~0u) ++warp.machine->watch.changes;  // completes bytes of an mbarrier
  const std::span<const std::byte> own = warp.local.frames();
  for (unsigned i = 0; i < form.count; ++i) {
    const LaneValues* const from = warp.at(warp.operands[op.operands + i]);
    for_lanes(active, [&](int l) {
      const std::byte* const there = to.lane[l] + std::size_t{i} * form.bytes;
      if (there >= own.data() && there < own.data() + own.size()) return;  // seen with the warp's state
      const unsigned low = std::min<unsigned>(form.bytes, sizeof(std::uint64_t));
      const bool same = std::memcmp(there, &from->lane[l], low) == 0 &&
                        (form.bytes <= low || std::memcmp(there + low, &from[1].lane[l], low) == 0);
      if (!same) ++warp.machine->watch.changes;
    });
  }
}

void load_far(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active,
              const Pointers& from) {
  const OperandRef* operand = warp.operands + op.operands;
  for (unsigned i = 0; i < form.count; ++i, ++operand) {
    if (!operand->exists()) continue;
    LaneValues* const to = warp.at(*operand);
    const unsigned offset = i * form.bytes;
    with_width(form.bytes, [&](auto width) {
      for_lanes(active, [&](int l) { to->lane[l] = read<decltype(width)>(from.lane[l] + offset); });
    });
    if (form.bytes == 16)
      for_lanes(active, [&](int l) { to[1].lane[l] = read<std::uint64_t>(from.lane[l] + offset + 8); });
    if (form.extend != 0) extend_sign(*to, active, form.extend, form.width);
  }
}

}  // namespace lockstep::exec
