// Accesses through a base register that an access before them in their block has gone through
// (decode_base.cpp): all lanes' addresses are that one's, as far away as their offsets.
#include <algorithm>

#include "exec/access_set.hpp"
#include "exec/cta.hpp"
#include "exec/lane_loop.hpp"

namespace lockstep::exec {

namespace {

bool are_neighbours(const KnownAccess& known, const MemoryForm& form) {
  return known.span.neighbours && known.bytes == form.bytes;
}

}  // namespace

/// Where the first active lane's access lands; the others as far from it as their addresses. The access is
/// recorded. nullptr: it is one that needs a closer look (other lanes, misaligned, not all in one page or in
/// the CTA's shared memory), and nothing is done.
std::byte* Warp::known_place(const MemoryForm& form, LaneMask active, Use use) {
  const KnownAccess& known = known_[form.place];
  if (active == 0 || known.mask != active) return nullptr;
  const std::uint64_t shift =
      static_cast<std::uint64_t>(form.offset) - static_cast<std::uint64_t>(known.offset);
  if (((known.span.bits | shift) & (form.bytes - 1u)) != 0) return nullptr;
  const Address first = known.addresses.lane[std::countr_zero(active)] + shift;
  const Address lowest = known.span.lowest + shift, last = known.span.highest + shift + form.bytes - 1;
  const std::uint64_t page = (lowest - kArenaBase) >> DeviceMemory::kPageShift;
  const Address window = form.reach == Reach::kGeneric ? kSharedWindow : 0;
  std::byte* place = nullptr;
  if (form.reach != Reach::kShared && (last - kArenaBase) >> DeviceMemory::kPageShift == page &&
      machine_->view.page_mapped(page)) {
    if (machine_->accesses && !note_known_global(known, form, first, use)) return nullptr;
    place = reinterpret_cast<std::byte*>(first);
  } else if (form.reach != Reach::kGlobal && lowest - window <= last - window &&
             last - window < cta_->shared().size()) {
    place = cta_->shared().data() + (first - window);
  } else {
    return nullptr;
  }
  if (record_) note_shifted(known, shift);
  return place;
}

/// For a launch whose CTAs run at once. False: not one range of addresses, and nothing is noted.
bool Warp::note_known_global(const KnownAccess& known, const MemoryForm& form, Address first, Use use) {
  const bool neighbours = are_neighbours(known, form);
  if (!neighbours && known.span.differ != 0) return false;
  const std::uint64_t size = std::uint64_t{form.bytes} * (neighbours ? kLanes : 1);
  note_range(first, size, use);
  return true;
}

/// What trace::pack_addresses() makes of addresses does not depend on where they are, but for the first word
/// or, of a list, all.
void Warp::note_shifted(const KnownAccess& known, std::uint64_t shift) {
  auto& words = record_->words;
  record_->records.push_back(trace::Record::make(now_.pc, known.form, known.mask));
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

void Warp::load_known(const Operation& op, const MemoryForm& form, LaneMask active, const std::byte* first) {
  const KnownAccess& known = known_[form.place];
  const bool neighbours = are_neighbours(known, form);
  if (neighbours || known.span.differ == 0) return load_near(op, form, active, neighbours, first);
  const Slot slot = slots_[op.operands];
  if (!slot.exists()) return;
  LaneSlots* const to = at(slot);
  const std::uint64_t base = known.addresses.lane[std::countr_zero(active)];
  with_width(form.bytes, [&](auto width) {
    for_lanes(active, [&](int l) {
      to->lane[l] =
          read<decltype(width)>(first + static_cast<std::ptrdiff_t>(known.addresses.lane[l] - base));
    });
  });
  if (form.extend != 0) extend_sign(*to, active, form.extend, form.width);
}

void Warp::store_known(const Operation& op, const MemoryForm& form, LaneMask active, std::byte* first) {
  const KnownAccess& known = known_[form.place];
  const LaneSlots* const from = at(slots_[op.operands]);
  if (are_neighbours(known, form)) return lanes_->store[std::countr_zero(form.bytes)](first, *from);
  const std::uint64_t base = known.addresses.lane[std::countr_zero(active)];
  with_width(form.bytes, [&](auto width) {
    for_lanes(active, [&](int l) {
      write(first + static_cast<std::ptrdiff_t>(known.addresses.lane[l] - base),
            static_cast<decltype(width)>(from->lane[l]));
    });
  });
}

}  // namespace lockstep::exec
