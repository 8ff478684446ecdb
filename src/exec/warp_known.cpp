// Accesses through a base that is known (known_bases.cpp).
#include <algorithm>
#include <bit>

#include "exec/warp_memory.hpp"

namespace lockstep::exec {

namespace {

bool are_neighbours(const Access& known, const MemoryForm& form) {
  return known.span.neighbours && known.bytes == form.bytes;
}

/// For a launch whose CTAs run at once. False: not one range of addresses, and nothing is noted.
bool note_known_global(WarpState& warp, const Access& known, const MemoryForm& form, Address first, Use use) {
  const bool neighbours = are_neighbours(known, form);
  if (!neighbours && known.span.differ != 0) return false;
  const std::uint64_t size = std::uint64_t{form.bytes} * (neighbours ? kLanes : 1);
  note_range(warp, first, size, use);
  return true;
}

/// What trace::pack_addresses() makes of addresses does not depend on where they are, but for the first word
/// or, of a list, all.
void note_shifted(WarpState& warp, const Access& known, std::uint64_t shift) {
  auto& words = warp.record->words;
  warp.record->records.push_back(trace::Record::make(warp.now.pc, known.form, known.mask));
  if (known.form == trace::AddressForm::kAffine) {  // the usual case
    const std::uint64_t first = words[known.word] + shift, stride = words[known.word + 1];
    words.push_back(first);
    words.push_back(stride);
    return;
  }
  const std::size_t count = trace::address_words(known.form, known.mask), to = words.size();
  words.resize(to + count);
  std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(known.word), count,
              words.begin() + static_cast<std::ptrdiff_t>(to));
  const std::size_t moved = known.form == trace::AddressForm::kList ? count : 1;
  for (std::size_t i = 0; i < moved; ++i) words[to + i] += shift;
}

/// Where the first active lane's access lands; the others as far from it as their addresses. The access is
/// recorded. nullptr: it is one that needs a closer look (other lanes, misaligned, not all in one page or in
/// the CTA's shared memory), and nothing is done.
std::byte* find_place(WarpState& warp, const Access& known, const MemoryForm& form, LaneMask active,
                      Use use) {
  if (active == 0 || known.mask != active) return nullptr;
  const std::uint64_t shift =
      static_cast<std::uint64_t>(form.offset) - static_cast<std::uint64_t>(known.offset);
  if (((known.span.bits | shift) & (form.bytes - 1u)) != 0) return nullptr;
  const Address first = known.addresses.lane[std::countr_zero(active)] + shift;
  const Address lowest = known.span.lowest + shift, last = known.span.highest + shift + form.bytes - 1;
  const std::uint64_t page = (lowest - kArenaBase) >> DeviceMemory::kPageShift;
  const Address window = form.state_space == StateSpace::kGeneric ? kSharedWindow : 0;
  std::byte* place = nullptr;
  if (form.state_space != StateSpace::kShared && (last - kArenaBase) >> DeviceMemory::kPageShift == page &&
      warp.machine->view.page_mapped(page)) {
    if (warp.machine->accesses && !note_known_global(warp, known, form, first, use)) return nullptr;
    place = reinterpret_cast<std::byte*>(first);
  } else if (form.state_space != StateSpace::kGlobal && lowest - window <= last - window &&
             last - window < warp.cta->shared.size()) {
    place = warp.cta->shared.data() + (first - window);
  } else {
    return nullptr;
  }
  if (warp.record) note_shifted(warp, known, shift);
  return place;
}

}  // namespace

void LoadStore::load_known(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active) {
  const Access& known = known_[form.place];
  const std::byte* const first = find_place(warp, known, form, active, Use::kRead);
  if (!first) return load_anywhere(warp, op, form, active);
  const bool neighbours = are_neighbours(known, form);
  if (neighbours || known.span.differ == 0) return load_near(warp, op, form, active, neighbours, first);
  const OperandRef operand = warp.operands[op.operands];
  if (!operand.exists()) return;
  LaneValues* const to = warp.at(operand);
  const std::uint64_t base = known.addresses.lane[std::countr_zero(active)];
  with_width(form.bytes, [&](auto width) {
    for_lanes(active, [&](int l) {
      to->lane[l] =
          read<decltype(width)>(first + static_cast<std::ptrdiff_t>(known.addresses.lane[l] - base));
    });
  });
  if (form.extend != 0) extend_sign(*to, active, form.extend, form.width);
}

void LoadStore::store_known(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active) {
  const Access& known = known_[form.place];
  std::byte* const first = find_place(warp, known, form, active, Use::kWrite);
  if (!first) return store_anywhere(warp, op, form, active);
  const LaneValues* const from = warp.at(warp.operands[op.operands]);
  if (are_neighbours(known, form)) return warp.lanes->store[std::countr_zero(form.bytes)](first, *from);
  const std::uint64_t base = known.addresses.lane[std::countr_zero(active)];
  with_width(form.bytes, [&](auto width) {
    for_lanes(active, [&](int l) {
      write(first + static_cast<std::ptrdiff_t>(known.addresses.lane[l] - base),
            static_cast<decltype(width)>(from->lane[l]));
    });
  });
}

}  // namespace lockstep::exec
