// The memory pipeline's part in managed memory: lines that miss the TLB leave the tag stage and come back
// when their page is there.
#include <algorithm>

#include "core/memory_pipeline.hpp"
#include "util/bits.hpp"

namespace lockstep::core {
MemoryPipeline::Translation MemoryPipeline::translate(Cycle now, const LineAccess& line) {
  Access& access = current_.access;
  const bool write = access.kind == LineKind::kStore || access.kind == LineKind::kAtomic ||
                     access.kind == LineKind::kReduction;
  if (translator_->blocks()) {
    access.blocked = Blocked::kTranslation;
    return Translation::kWaits;
  }
  if (!current_.parking && translator_->translate(now, line.line, write)) {
    current_.untranslated = current_.next + 1;
    return Translation::kKnown;
  }
  current_.parking = true;
  if (!room_for_request(access, false)) return Translation::kWaits;
  take_entry(access);
  current_.parking = false;
  current_.untranslated = current_.next + 1;
  pending_[access.entry].sectors += bit_count(line.sectors);
  if (!translator_->park(now, parked(line, write))) ++counters_[access.kernel].tlb_waits;
  return Translation::kParked;
}

/// The next line of the operation in the tag stage, as it leaves it.
ParkedLine MemoryPipeline::parked(const LineAccess& line, bool write) const {
  const Access& access = current_.access;
  ParkedLine parked;
  parked.access = line;
  if (access.kind == LineKind::kStore || access.signals) parked.bytes = lines_.bytes[current_.next];
  parked.handle = access.handle;
  parked.entry = access.entry;
  parked.extra = access.extra;
  parked.kind = static_cast<std::uint8_t>(access.kind);
  parked.kernel = access.kernel;
  parked.evict_first = access.evict_first;
  parked.local = access.local;
  parked.signals = access.signals;
  parked.write = write;
  parked.answered = access.kind != LineKind::kStore && access.kind != LineKind::kReduction;
  return parked;
}

/// What has come from the GMMU, in order. A line needs a place in the tag stage that no operation wants.
void MemoryPipeline::serve_translations(Cycle now) {
  translator_->receive(now);
  while (translator_->has_remote() && !port_.full()) {
    const icnt::Request request = translator_->take_remote();
    port_.send_remote(now, request);
  }
  while (translator_->has_work())
    if (!(translator_->next_is_line() ? try_line_again(now) : shoot_down(now))) return;
}

/// A line that was read or written on the host: like one that comes back from the L2.
void MemoryPipeline::receive_remote(Cycle now, std::uint32_t token) {
  const ParkedLine line = translator_->remote_done(token);
  if (static_cast<LineKind>(line.kind) == LineKind::kBulk)
    return heed(now, bulk_.receive(line.handle, bit_count(line.access.sectors)));
  sectors_back(now, line.entry, bit_count(line.access.sectors));
}

/// True when it is done: no fill of its pages is under way.
bool MemoryPipeline::shoot_down(Cycle now) {
  if (translator_->acknowledges()) {
    const Address first = translator_->shootdown_base(),
                  bytes = Address{translator_->shootdown().pages} * uvm::kPageBytes;
    if (mshrs_.any_in(first, bytes)) return false;
    l1_.drop_range(first, bytes);
  }
  translator_->finish_shootdown(now);
  return true;
}

/// One look-up for the line whose turn it is; true when it went through. An operation that waits for a table
/// stands aside: the table may be full of lines like this one.
bool MemoryPipeline::try_line_again(Cycle now) {
  if (static_cast<LineKind>(translator_->line().kind) == LineKind::kBulk)
    return send_parked_bulk_line(now, translator_->line());
  const Blocked blocked = current_.access.blocked;
  const bool stands = blocked == Blocked::kTable || blocked == Blocked::kTranslation;
  if (current_.active && !stands) return false;
  if (tag_cycle_ != now) {
    tag_cycle_ = now;
    tags_used_ = 0;
  }
  if (tags_used_ >= tags_per_cycle_) return false;
  const ParkedLine& line = translator_->line();
  Access access;
  access.kind = static_cast<LineKind>(line.kind);
  access.kernel = line.kernel;
  access.evict_first = line.evict_first;
  access.local = line.local;
  access.signals = line.signals;
  access.entry = line.entry;
  access.extra = line.extra;
  access.handle = line.handle;
  if (!look_up(now, access, line.access, line.bytes)) return false;
  ++tags_used_;
  LsuPending::Entry& entry = pending_[line.entry];
  entry.sectors -= bit_count(line.access.sectors);
  entry.ready = std::max(entry.ready, now + hit_rest_ + line.extra);
  if (entry.sectors == 0 && !entry.issuing) finish_entry(now, line.entry);
  translator_->line_done();
  set_memory_free(now);
  return true;
}

}  // namespace lockstep::core
