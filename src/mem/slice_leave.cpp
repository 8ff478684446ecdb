// What leaves a slice: changed bytes that go to DRAM, and lines whose page leaves the device.

#include "mem/slice.hpp"
#include "util/bits.hpp"

namespace lockstep::mem {

/// Each dirty sector is one masked write; `kernel` is whose request needs the place.
bool Slice::write_back(Slot slot, std::uint8_t kernel, Cycle now) {
  const SectorMask dirty = tags_[slot].dirty_sectors();
  if (!dirty) return true;
  const DramPlace place = controller_->place(map_->local_line(tags_[slot].address), index_);
  if (!controller_->write_room(place)) return false;
  controller_->write(now, place, kernel, dirty);
  counters_->mem[kernel].l2_writebacks += bit_count(dirty);
  return true;
}

/// So many of the set's dirty lines that one more may become dirty. False when a write queue has no room for
/// the next of them.
bool Slice::write_back_excess(std::uint32_t set, std::uint8_t kernel, Cycle now) {
  if (dirty_ways_ == 0) return true;
  while (const std::optional<Slot> oldest = tags_.excess_dirty(set, dirty_ways_)) {
    if (!write_back(*oldest, kernel, now)) return false;
    tags_.mark_clean(*oldest);
  }
  return true;
}

/// Before the latch's request changes a line of the set: the one at `slot`, or one that is not there yet.
bool Slice::make_room_to_dirty(Latch& latch, std::optional<Slot> slot, std::uint32_t set, Cycle now) {
  if (slot && tags_.is_dirty(*slot)) return true;
  if (write_back_excess(set, latch.request.kernel, now)) return true;
  latch.stall = Stall::kWrite;
  return false;
}

bool Slice::serve_discard(const icnt::Request& r, Origin origin, Cycle now) {
  const std::optional<Slot> slot = tags_.find(tags_.set_of(map_->local_line(r.line)), r.line);
  if (slot) let_go(*slot, r.kernel, now);
  reply(r, r.sectors, origin, now);
  return true;
}

/// The line leaves, now or when its fill is there. What was changed has been read, or nobody wants it.
void Slice::let_go(Slot slot, std::uint8_t kernel, Cycle now) {
  Line& line = tags_[slot];
  drop_copies(line, line.copied, kernel, now);
  if (line.mshr == kNoMshr) {
    tags_.remove(slot);
  } else {
    line.leaving = true;
  }
}

}  // namespace lockstep::mem
