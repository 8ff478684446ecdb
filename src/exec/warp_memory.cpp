#include "exec/warp_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/warp_mbarrier.hpp"
#include "exec/warp_poll.hpp"
#include "exec/warp_wait.hpp"

namespace lockstep::exec {

namespace {

/// A parameter at a fixed place, which every lane finds there.
void load_parameter(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active) {
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(active));
  const auto at_byte = static_cast<std::uint64_t>(form.offset) & 0xffffffffu;
  const std::uint32_t bytes = std::uint32_t{form.bytes} * form.count;
  if ((at_byte & (std::bit_floor(bytes) - 1)) != 0)
    warp.fault(FaultKind::kMisalignedAddress, LaneMask{1} << lane, at_byte, {});
  const std::byte* const from = resolve_one(warp, StateSpace::kParameter, lane, bytes, at_byte);
  if (!from) warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << lane, at_byte, {});
  const OperandRef* operand = warp.operands + op.operands;
  for (unsigned i = 0; i < form.count; ++i, ++operand) {
    if (!operand->exists()) continue;
    LaneValues* const to = warp.at(*operand);
    std::uint64_t value = 0;
    with_width(form.bytes, [&](auto width) { value = read<decltype(width)>(from + i * form.bytes); });
    for_lanes(active, [&](int l) { to->lane[l] = value; });
    if (form.extend != 0) extend_sign(*to, active, form.extend, form.width);
  }
}

/// The elements of each lane's value. `neighbours`: all lanes take part, and their accesses are neighbours.
void put(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active, bool neighbours,
         const Pointers& to) {
  const OperandRef* operand = warp.operands + op.operands;
  for (unsigned i = 0; i < form.count; ++i, ++operand) {
    const LaneValues* const from = warp.at(*operand);
    const unsigned offset = i * form.bytes;
    if (neighbours && form.count == 1 && form.bytes <= 8)
      warp.lanes->store[std::countr_zero(form.bytes)](to.lane[0], *from);
    else
      with_width(form.bytes, [&](auto width) {
        for_lanes(active,
                  [&](int l) { write(to.lane[l] + offset, static_cast<decltype(width)>(from->lane[l])); });
      });
    if (form.bytes == 16) for_lanes(active, [&](int l) { write(to.lane[l] + offset + 8, from[1].lane[l]); });
  }
}

}  // namespace

void LoadStore::load_near(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active,
                          bool neighbours, const std::byte* from) {
  const OperandRef operand = warp.operands[op.operands];
  if (!operand.exists()) return;
  LaneValues* const to = warp.at(operand);
  if (neighbours) {
    warp.lanes->load[std::countr_zero(form.bytes)](from, *to);
  } else {
    with_width(form.bytes, [&](auto width) {
      const std::uint64_t value = read<decltype(width)>(from);
      for_lanes(active, [&](int l) { to->lane[l] = value; });
    });
  }
  if (form.extend != 0) extend_sign(*to, active, form.extend, form.width);
}

void LoadStore::load(WarpState& warp, const Operation& op, LaneMask active) {
  const MemoryForm& form = warp.machine->kernel.memory()[op.detail];
  if (form.known && !warp.machine->watch.on()) return load_known(warp, op, form, active);
  load_anywhere(warp, op, form, active);
}

void LoadStore::load_anywhere(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active) {
  if (form.state_space == StateSpace::kParameter && !form.base.exists() && form.bytes <= 8 && active != 0 &&
      !warp.record)
    return load_parameter(warp, op, form, active);
  const std::uint32_t bytes = std::uint32_t{form.bytes} * form.count;
  Access& access = known_[form.place];
  const Addresses& a = access.addresses;
  const AddressSpan& span = access.span;
  if (!locate(warp, form, active, bytes, access)) return;
  if (warp.machine->watch.on()) watch_reads(warp, form, active, a);
  const bool near = form.count == 1 && form.bytes <= 8 && (span.neighbours || span.differ == 0);
  const std::byte* const place =
      near ? resolve_together(warp, form, active, bytes, a, span, Use::kRead) : nullptr;
  if (place) {
    load_near(warp, op, form, active, span.neighbours, place);
  } else {
    Pointers from;
    (void)resolve(warp, form, active, bytes, a, span, Use::kRead, from);
    load_far(warp, op, form, active, from);
  }
  if (!form.polls) return;
  if (form.spin != 0 && warp.machine->options.signals && wait_for_signal(warp, op, form, active, a)) return;
  const OperandRef* const results = warp.operands + op.operands;
  const OperandRef* const seen =
      std::find_if(results, results + form.count, [](OperandRef s) { return s.exists(); });
  if (seen != results + form.count) note_poll(warp, active, a, *warp.at(*seen), false);
}

void LoadStore::store(WarpState& warp, const Operation& op, LaneMask active) {
  const MemoryForm& form = warp.machine->kernel.memory()[op.detail];
  if (form.known && !warp.machine->watch.on()) return store_known(warp, op, form, active);
  store_anywhere(warp, op, form, active);
}

void LoadStore::store_anywhere(WarpState& warp, const Operation& op, const MemoryForm& form,
                               LaneMask active) {
  const std::uint32_t bytes = std::uint32_t{form.bytes} * form.count;
  Access& access = known_[form.place];
  const Addresses& a = access.addresses;
  const AddressSpan& span = access.span;
  if (!locate(warp, form, active, bytes, access)) return;
  Pointers to;
  const bool neighbours = resolve(warp, form, active, bytes, a, span, Use::kWrite, to);
  if (warp.machine->watch.on()) watch_store(warp, op, form, active, to);
  if (form.signals && warp.machine->options.signals) {
    const std::vector<Address> words = signal_words(warp, active, a, bytes);
    before_signal(warp, words);
    put(warp, op, form, active, neighbours, to);
    after_signal(warp, words);
  } else {
    put(warp, op, form, active, neighbours, to);
  }
  if (op.second == ~0u) return;
  complete_bytes_of_lanes(warp, op.second, active, bytes);
  access.mask = 0;  // its record has changed
}

}  // namespace lockstep::exec
