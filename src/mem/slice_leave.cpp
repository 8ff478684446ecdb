// Lines that leave a slice because their page leaves the device.
#include "mem/slice.hpp"

namespace lockstep::mem {

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
