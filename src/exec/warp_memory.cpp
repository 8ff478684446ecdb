// Loads and stores of a warp.
#include <bit>
#include <cstring>

#include "exec/access_set.hpp"
#include "exec/cta.hpp"
#include "exec/lane_loop.hpp"
#include "exec/warp.hpp"

namespace lockstep::exec {

namespace {

std::uint64_t read_bits(const std::byte* from, unsigned bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

}  // namespace

std::pair<std::uint64_t, std::uint64_t> Warp::reach_offset(const MemoryForm& form) const {
  const bool narrow = form.reach != Reach::kGlobal && form.reach != Reach::kGeneric;
  return {static_cast<std::uint64_t>(form.offset) + (form.reach == Reach::kFrame ? frame_local_ : 0),
          narrow ? 0xffffffffu : ~std::uint64_t{0}};
}

void Warp::addresses(const MemoryForm& form, LaneMask, Addresses& out) const {
  const auto [offset, keep] = reach_offset(form);
  if (!form.base.exists()) {
    for (auto& a : out.lane) a = offset & keep;
    return;
  }
  const LaneSlots& base = *at(form.base);
  for (int l = 0; l < kLanes; ++l) out.lane[l] = (base.lane[l] + offset) & keep;
}

AddressSpan Warp::addresses(const MemoryForm& form, LaneMask active, std::uint32_t bytes,
                            Addresses& out) const {
  const auto [offset, keep] = reach_offset(form);
  if (form.base.exists()) return lanes_->locate(*at(form.base), offset, keep, active, bytes, out.lane);
  for (auto& a : out.lane) a = offset & keep;
  return {offset & keep, 0, offset & keep, offset & keep, false};
}

/// The addresses of an access, which are recorded. False: no lane takes part, and that is recorded.
bool Warp::locate(const MemoryForm& form, LaneMask active, std::uint32_t bytes, KnownAccess& out) {
  out.mask = active;
  if (active == 0) {
    if (record_) note(active);
    return false;
  }
  out.bytes = bytes;
  out.offset = form.offset;
  out.span = addresses(form, active, bytes, out.addresses);
  if (!record_) return true;
  out.word = record_->words.size();
  note(active, out.addresses, out.span, bytes);
  out.form = record_->records.back().form();
  return true;
}

/// Where one lane's access of a space lands, or nullptr.
std::byte* Warp::resolve_one(Reach reach, std::uint32_t l, std::uint32_t bytes, Address a) {
  switch (reach) {
    case Reach::kGlobal:
      return machine_->view.accessible(a, bytes) ? reinterpret_cast<std::byte*>(a) : nullptr;
    case Reach::kShared: {
      const Address rank = a >> kSharedRankShift;
      std::vector<std::byte>* const shared = rank == 0 ? &cta_->shared() : cta_->peer_shared(rank - 1);
      const Address offset = a & ((Address{1} << kSharedRankShift) - 1);
      return shared && offset + bytes <= shared->size() ? shared->data() + offset : nullptr;
    }
    case Reach::kLocal:
    case Reach::kFrame:
      if (a >= kStackOffset) return stack_memory(l, a - kStackOffset, bytes);
      return a + bytes <= local_stride_ ? local(l, a) : nullptr;
    case Reach::kParameter:
      return a + bytes <= machine_->parameters.size() ? machine_->parameters.data() + a : nullptr;
    case Reach::kGeneric:
      break;
  }
  if (in_shared_window(a)) return resolve_one(Reach::kShared, l, bytes, a - kSharedWindow);
  if (in_local_window(a)) return resolve_one(Reach::kLocal, l, bytes, a - kLocalWindow);
  if (in_param_window(a)) return resolve_one(Reach::kParameter, l, bytes, a - kParamWindow);
  return resolve_one(Reach::kGlobal, l, bytes, a);
}

/// Host addresses of the lanes' accesses. `bytes`: of the whole access, to which it must be aligned. True:
/// all lanes take part, and their accesses are neighbours.
bool Warp::resolve(const MemoryForm& form, LaneMask active, std::uint32_t bytes, const Addresses& a, Use use,
                   Pointers& out) {
  return resolve(form, active, bytes, a, lanes_->span(a.lane, active, bytes), use, out);
}

bool Warp::resolve(const MemoryForm& form, LaneMask active, std::uint32_t bytes, const Addresses& a,
                   const AddressSpan& span, Use use, Pointers& out) {
  const std::uint32_t align = std::bit_floor(bytes);
  if ((span.bits & (align - 1)) != 0)
    for_lanes(active, [&](int l) {
      if ((a.lane[l] & (align - 1)) != 0)
        fault(FaultKind::kMisalignedAddress, LaneMask{1} << l, a.lane[l], {});
    });
  if (std::byte* const place = direct(form, active, bytes, a, span, use)) {
    const auto shift = reinterpret_cast<std::uint64_t>(place) - a.lane[std::countr_zero(active)];
    for (int l = 0; l < kLanes; ++l) out.lane[l] = reinterpret_cast<std::byte*>(a.lane[l] + shift);
    return span.neighbours;
  }
  for_lanes(active, [&](int l) {
    out.lane[l] = resolve_one(form.reach, static_cast<std::uint32_t>(l), bytes, a.lane[l]);
    if (!out.lane[l]) fault(FaultKind::kIllegalAddress, LaneMask{1} << l, a.lane[l], {});
    if (machine_->accesses && reinterpret_cast<Address>(out.lane[l]) == a.lane[l])
      note_global(AddressSpan{0, ~std::uint64_t{0}, 0, 0, false}, LaneMask{1} << l, bytes, a, use);
  });
  return false;
}

/// The usual cases: aligned accesses, all lanes in one mapped page or in the CTA's shared memory. Where the
/// first active lane's lands, the others as far from it as their addresses; nullptr: another case.
std::byte* Warp::direct(const MemoryForm& form, LaneMask active, std::uint32_t bytes, const Addresses& a,
                        const AddressSpan& span, Use use) {
  if ((span.bits & (std::bit_floor(bytes) - 1)) != 0) return nullptr;
  const Address any = a.lane[std::countr_zero(active)];
  const bool generic = form.reach == Reach::kGeneric;
  if (form.reach == Reach::kGlobal || generic) {
    const std::uint64_t page = (any - kArenaBase) >> DeviceMemory::kPageShift;
    if ((span.differ >> DeviceMemory::kPageShift) == 0 && machine_->view.page_mapped(page)) {
      if (machine_->accesses) note_global(span, active, bytes, a, use);
      return reinterpret_cast<std::byte*>(any);
    }
  }
  const Address window = generic ? kSharedWindow : 0;
  if ((form.reach == Reach::kShared || generic) &&
      (((any ^ window) | span.differ) >> kSharedRankShift) == 0 &&
      span.highest - window + bytes <= cta_->shared().size())
    return cta_->shared().data() + (any - window);
  return nullptr;
}

/// For a launch whose CTAs run at once.
void Warp::note_range(Address first, std::uint64_t bytes, Use use) {
  if (use == Use::kWrite)
    machine_->accesses->write(first, bytes);
  else if (use == Use::kRead)
    machine_->accesses->read(first, bytes);
}

/// For a launch whose CTAs run at once. Lanes often come in rows of neighbours, which are noted as one.
void Warp::note_global(const AddressSpan& span, LaneMask active, std::uint32_t bytes, const Addresses& a,
                       Use use) {
  if (use == Use::kReduce) return;
  const auto note = [&](Address first, std::uint64_t size) { note_range(first, size, use); };
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

/// A parameter at a fixed place, which every lane finds there.
void Warp::load_parameter(const Operation& op, const MemoryForm& form, LaneMask active) {
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(active));
  const auto at_byte = static_cast<std::uint64_t>(form.offset) & 0xffffffffu;
  const std::uint32_t bytes = std::uint32_t{form.bytes} * form.count;
  if ((at_byte & (std::bit_floor(bytes) - 1)) != 0)
    fault(FaultKind::kMisalignedAddress, LaneMask{1} << lane, at_byte, {});
  const std::byte* const from = resolve_one(Reach::kParameter, lane, bytes, at_byte);
  if (!from) fault(FaultKind::kIllegalAddress, LaneMask{1} << lane, at_byte, {});
  const Slot* slot = slots_ + op.operands;
  for (unsigned i = 0; i < form.count; ++i, ++slot) {
    if (!slot->exists()) continue;
    LaneSlots* const to = at(*slot);
    const std::uint64_t value = read_bits(from + i * form.bytes, form.bytes);
    for_lanes(active, [&](int l) { to->lane[l] = value; });
    if (form.extend != 0) extend_sign(*to, active, form.extend, form.width);
  }
}

/// One value of up to 8 bytes for each lane, from neighbouring places or all from one.
void Warp::load_near(const Operation& op, const MemoryForm& form, LaneMask active, bool neighbours,
                     const std::byte* from) {
  const Slot slot = slots_[op.operands];
  if (!slot.exists()) return;
  LaneSlots* const to = at(slot);
  if (neighbours) {
    lanes_->load[std::countr_zero(form.bytes)](from, *to);
  } else {
    with_width(form.bytes, [&](auto width) {
      const std::uint64_t value = read<decltype(width)>(from);
      for_lanes(active, [&](int l) { to->lane[l] = value; });
    });
  }
  if (form.extend != 0) extend_sign(*to, active, form.extend, form.width);
}

void Warp::load_far(const Operation& op, const MemoryForm& form, LaneMask active, const Pointers& from) {
  const Slot* slot = slots_ + op.operands;
  for (unsigned i = 0; i < form.count; ++i, ++slot) {
    if (!slot->exists()) continue;
    LaneSlots* const to = at(*slot);
    const unsigned offset = i * form.bytes;
    with_width(form.bytes, [&](auto width) {
      for_lanes(active, [&](int l) { to->lane[l] = read<decltype(width)>(from.lane[l] + offset); });
    });
    if (form.bytes == 16)
      for_lanes(active, [&](int l) { to[1].lane[l] = read<std::uint64_t>(from.lane[l] + offset + 8); });
    if (form.extend != 0) extend_sign(*to, active, form.extend, form.width);
  }
}

void Warp::load(const Operation& op, LaneMask active) {
  const MemoryForm& form = machine_->kernel.memory()[op.detail];
  if (form.known && !machine_->watch.on())
    if (const std::byte* const first = known_place(form, active, Use::kRead))
      return load_known(op, form, active, first);
  load_anywhere(op, form, active);
}

void Warp::load_anywhere(const Operation& op, const MemoryForm& form, LaneMask active) {
  if (form.reach == Reach::kParameter && !form.base.exists() && form.bytes <= 8 && active != 0 && !record_)
    return load_parameter(op, form, active);
  const std::uint32_t bytes = std::uint32_t{form.bytes} * form.count;
  KnownAccess& access = known_[form.place];
  const Addresses& a = access.addresses;
  const AddressSpan& span = access.span;
  if (!locate(form, active, bytes, access)) return;
  if (machine_->watch.on()) watch_reads(form, active, a);
  const bool near = form.count == 1 && form.bytes <= 8 && (span.neighbours || span.differ == 0);
  const std::byte* const place = near ? direct(form, active, bytes, a, span, Use::kRead) : nullptr;
  if (place) {
    load_near(op, form, active, span.neighbours, place);
  } else {
    Pointers from;
    (void)resolve(form, active, bytes, a, span, Use::kRead, from);
    load_far(op, form, active, from);
  }
  if (!form.polls || !slots_[op.operands].exists()) return;
  if (form.spin != 0 && machine_->options.signals && look(op, form, active, a)) return;
  note_poll(active, a, *at(slots_[op.operands]), false);
}

void Warp::store(const Operation& op, LaneMask active) {
  const MemoryForm& form = machine_->kernel.memory()[op.detail];
  if (form.known && !machine_->watch.on())
    if (std::byte* const first = known_place(form, active, Use::kWrite))
      return store_known(op, form, active, first);
  const std::uint32_t bytes = std::uint32_t{form.bytes} * form.count;
  KnownAccess& access = known_[form.place];
  const Addresses& a = access.addresses;
  const AddressSpan& span = access.span;
  if (!locate(form, active, bytes, access)) return;
  Pointers to;
  const bool neighbours = resolve(form, active, bytes, a, span, Use::kWrite, to);
  if (machine_->watch.on()) watch_store(op, form, active, to);
  const bool signals = form.signals && machine_->options.signals;
  if (signals) before_signal(active, a, bytes);
  const Slot* slot = slots_ + op.operands;
  for (unsigned i = 0; i < form.count; ++i, ++slot) {
    const LaneSlots* const from = at(*slot);
    const unsigned offset = i * form.bytes;
    if (neighbours && form.count == 1 && form.bytes <= 8)
      lanes_->store[std::countr_zero(form.bytes)](to.lane[0], *from);
    else
      with_width(form.bytes, [&](auto width) {
        for_lanes(active,
                  [&](int l) { write(to.lane[l] + offset, static_cast<decltype(width)>(from->lane[l])); });
      });
    if (form.bytes == 16) for_lanes(active, [&](int l) { write(to.lane[l] + offset + 8, from[1].lane[l]); });
  }
  if (signals) after_signal();
  if (op.second != ~0u) tell_mbarriers(op.second, active, bytes);
}

}  // namespace lockstep::exec
