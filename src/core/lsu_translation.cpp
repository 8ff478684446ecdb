// The memory pipeline's part in managed memory: lines that miss the TLB leave the tag stage and come back
// when their page is there.
#include <algorithm>
#include <bit>

#include "core/memory_pipeline.hpp"

namespace lockstep::core {
namespace {

unsigned count(SectorMask sectors) { return static_cast<unsigned>(std::popcount(sectors)); }

}  // namespace

/// False: the line must wait for an entry of the pending table. `parked`: it has left the tag stage.
bool MemoryPipeline::translate(Cycle now, const LineAccess& access, bool& parked) {
  const bool write = current_.kind == LineKind::kStore || current_.kind == LineKind::kAtomic ||
                     current_.kind == LineKind::kReduction;
  if (translator_->blocks()) {
    current_.blocked = Blocked::kTranslation;
    return false;
  }
  if (!current_.parking && translator_->translate(now, access.line, write)) {
    current_.untranslated = current_.next + 1;
    return true;
  }
  current_.parking = true;
  if (!room_for_request(false)) return false;
  take_entry();
  current_.parking = false;
  current_.untranslated = current_.next + 1;
  pending_[current_.entry].sectors += count(access.sectors);
  ParkedLine line;
  line.access = access;
  if (current_.kind == LineKind::kStore) line.bytes = lines_.bytes[current_.next];
  line.handle = current_.handle;
  line.entry = current_.entry;
  line.extra = current_.extra;
  line.kind = static_cast<std::uint8_t>(current_.kind);
  line.kernel = current_.kernel;
  line.evict_first = current_.evict_first;
  line.local = current_.local;
  line.write = write;
  line.answered = current_.kind != LineKind::kStore && current_.kind != LineKind::kReduction;
  if (!translator_->park(now, line)) ++counters_[current_.kernel].tlb_waits;
  parked = true;
  return true;
}

/// What has come from the GMMU, in order. A line needs a place in the tag stage that no operation wants.
void MemoryPipeline::serve_translations(Cycle now) {
  translator_->receive(now);
  while (translator_->has_remote() && !port_.full()) {
    icnt::Request request = translator_->take_remote();
    port_.send(now, request);
  }
  while (translator_->has_work())
    if (!(translator_->next_is_line() ? try_line_again(now) : shoot_down(now))) return;
}

/// A line that was read or written on the host: like one that comes back from the L2.
void MemoryPipeline::receive_remote(Cycle now, std::uint32_t token) {
  const ParkedLine line = translator_->remote_done(token);
  if (static_cast<LineKind>(line.kind) == LineKind::kBulk)
    return heed(now, bulk_.receive(line.handle, count(line.access.sectors)));
  sectors_back(now, line.entry, count(line.access.sectors));
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
  const bool stands = current_.blocked == Blocked::kTable || current_.blocked == Blocked::kTranslation;
  if (current_.active && !stands) return false;
  if (tag_cycle_ != now) {
    tag_cycle_ = now;
    tags_used_ = 0;
  }
  if (tags_used_ >= tags_per_cycle_) return false;
  const ParkedLine& line = translator_->line();
  const Current aside = current_;
  const LineAccess access = lines_.line[0];
  const auto bytes = lines_.bytes[0];
  current_ = {};
  current_.kind = static_cast<LineKind>(line.kind);
  current_.kernel = line.kernel;
  current_.evict_first = line.evict_first;
  current_.local = line.local;
  current_.entry = line.entry;
  current_.extra = line.extra;
  current_.handle = line.handle;
  lines_.line[0] = line.access;
  lines_.bytes[0] = line.bytes;
  const bool through = look_up(now, lines_.line[0]);
  current_ = aside;
  lines_.line[0] = access;
  lines_.bytes[0] = bytes;
  if (!through) return false;
  ++tags_used_;
  LsuPending::Entry& entry = pending_[line.entry];
  entry.sectors -= count(line.access.sectors);
  entry.ready = std::max(entry.ready, now + hit_rest_ + line.extra);
  if (entry.sectors == 0 && !entry.issuing) finish_entry(now, line.entry);
  translator_->line_done();
  set_memory_free(now);
  return true;
}

}  // namespace lockstep::core
