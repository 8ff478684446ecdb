// What a slice holds after accesses that are not timed.

#include <algorithm>

#include "mem/slice.hpp"
#include "mem/touch.hpp"
#include "util/bits.hpp"

namespace lockstep::mem {

/// The place of the line, taken from another line where it is absent: dirty data of that one are assumed
/// to be in DRAM. Nothing where all places are in flight.
std::optional<LineIndex> Slice::touched_place(const Touch& t, std::uint32_t set, bool far) {
  if (const std::optional<LineIndex> index = tags_.find(set, t.line)) {
    tags_.use(*index, t.placing);
    return index;
  }
  const std::optional<LineIndex> index = tags_.victim(set, far, far_ways_, t.placing);
  if (index) tags_.insert(*index, t.line, far, t.placing);
  return index;
}

void Slice::touch(const Touch& t) {
  tags_.note_resets(t.placing.resets);
  const bool far = is_far(t.line);
  const std::uint32_t set = tags_.set_of(map_->local_line(t.line));
  if (far && t.store) {  // the home slice's alone, and a copy here holds the old data
    if (const std::optional<LineIndex> copy = tags_.find(set, t.line))
      tags_[*copy].valid = static_cast<SectorMask>(tags_[*copy].valid & ~t.sectors);
    return;
  }
  const std::optional<LineIndex> index = touched_place(t, set, far);
  if (!index) return;
  Line& line = tags_[*index];
  const auto missed = static_cast<SectorMask>(t.sectors & ~line.valid);
  const SectorMask brought =
      t.store || line.far ? t.sectors : controller_->whole_fetch(missed);  // as fetch()
  line.valid = static_cast<SectorMask>(line.valid | (brought & ~line.pending));
  if (!t.store) {  // as serve_read(): a later store has to drop the other half's copy
    if (!far && map_->near_slice(t.line, t.half) != slice_)
      line.copied = static_cast<SectorMask>(line.copied | t.sectors);
    return;
  }
  if (map_->near_slice(t.line, t.half) == slice_)
    line.copied = static_cast<SectorMask>(line.copied & ~t.sectors);
  if (!tags_.is_dirty(*index) && dirty_ways_ > 0)
    while (const std::optional<LineIndex> oldest = tags_.excess_dirty(set, dirty_ways_))
      tags_.mark_clean(*oldest, kAllSectors);
  for (unsigned s = 0; s < kSectorsPerLine; ++s)
    if (t.sectors >> s & 1) tags_.mark_dirty(*index, s, kAllBytes);
}

}  // namespace lockstep::mem
