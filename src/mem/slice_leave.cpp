// What leaves a slice: changed bytes that go to DRAM, and lines whose page leaves the device.

#include "mem/lookup_count.hpp"
#include "mem/slice.hpp"
#include "util/bits.hpp"

namespace lockstep::mem {

/// Each dirty sector is one masked write; `kernel` is whose request needs the place.
bool Slice::write_back(LineIndex index, std::uint8_t kernel, Cycle now) {
  if (!tags_.is_dirty(index)) return true;
  const SectorMask dirty = tags_[index].dirty_sectors();
  const DramPlace place = controller_->place(map_->local_line(tags_[index].address), index_);
  if (!controller_->write_room(place)) return false;
  controller_->write(now, place, kernel, dirty);
  counters_->mem[kernel].l2_writebacks += bit_count(dirty);
  return true;
}

/// An absent line takes a place like any other, unless the request says otherwise; dirty data of the line
/// that had it are written first. A retry repeats nothing that is done: two writes need room in the DRAM's
/// queues, and there may be room for only one.
bool Slice::serve_copy(Latch& latch, Origin origin, Cycle now) {
  const icnt::Request& r = latch.request;
  const std::uint64_t local = map_->local_line(r.line);
  const std::uint32_t set = tags_.set_of(local);
  std::optional<LineIndex> index = tags_.find(set, r.line);
  const bool line_there = index.has_value(), takes_place = !line_there && r.copy == icnt::CopyInL2::kPlaced;
  if (takes_place) index = tags_.victim(set, false, far_ways_, r.placing);
  latch.stall = index || !takes_place ? Stall::kWrite : Stall::kFill;
  if (!index && takes_place) return false;
  if (takes_place && tags_.in_use(*index)) {
    if (!write_back(*index, r.kernel, now)) return false;
    tags_.mark_clean(*index, kAllSectors);
  }
  const DramPlace place = controller_->place(local, index_);
  if (!controller_->write_room(place)) return false;
  if (takes_place) tags_.insert(*index, r.line, false, r.placing);
  if (line_there) tags_.use(*index, r.placing);
  const SectorMask there = index ? take_copy(r, *index) : SectorMask{0};
  count_lookup(counters_->mem[r.kernel], r, origin == kNear,
               {there, 0, static_cast<SectorMask>(r.sectors & ~there), line_there});
  controller_->write(now, place, r.kernel, r.sectors);
  counters_->mem[r.kernel].l2_writebacks += bit_count(r.sectors);
  reply(r, r.sectors, origin, now);
  if (index && origin == kNear)
    drop_copies(tags_[*index], r.sectors, r.kernel, now);  // else written through on its way
  return true;
}

/// Returns the sectors that were there. One on its way from DRAM arrives all the same.
SectorMask Slice::take_copy(const icnt::Request& r, LineIndex index) {
  Line& line = tags_[index];
  const auto there = static_cast<SectorMask>(r.sectors & (line.valid | line.pending | line.dirty_sectors()));
  line.valid = static_cast<SectorMask>(r.copy == icnt::CopyInL2::kDropped ? line.valid & ~r.sectors
                                                                          : line.valid | r.sectors);
  tags_.mark_clean(index, r.sectors);
  return there;
}

/// Writes dirty lines of the set back until one more may become dirty. False when a write queue has no room
/// for the next of them.
bool Slice::write_back_excess(std::uint32_t set, std::uint8_t kernel, Cycle now) {
  if (dirty_ways_ == 0) return true;
  while (const std::optional<LineIndex> oldest = tags_.excess_dirty(set, dirty_ways_)) {
    if (!write_back(*oldest, kernel, now)) return false;
    tags_.mark_clean(*oldest, kAllSectors);
  }
  return true;
}

/// Before the latch's request changes a line of the set: the one at `index`, or one that is not there yet.
bool Slice::make_room_to_dirty(Latch& latch, std::optional<LineIndex> index, std::uint32_t set, Cycle now) {
  if (index && (tags_.is_dirty(*index) || tags_.leaves_last(*index))) return true;
  if (write_back_excess(set, latch.request.kernel, now)) return true;
  latch.stall = Stall::kWrite;
  return false;
}

bool Slice::serve_discard(const icnt::Request& r, Origin origin, Cycle now) {
  const std::optional<LineIndex> index = tags_.find(tags_.set_of(map_->local_line(r.line)), r.line);
  if (index) drop(*index, r.kernel, now);
  reply(r, r.sectors, origin, now);
  return true;
}

/// The line leaves, now or when its fill is there. Its dirty data have been read, or are not wanted.
void Slice::drop(LineIndex index, std::uint8_t kernel, Cycle now) {
  Line& line = tags_[index];
  drop_copies(line, line.copied, kernel, now);
  if (line.mshr == kNoMshr) {
    tags_.remove(index);
  } else {
    line.leaving = true;
  }
}

}  // namespace lockstep::mem
