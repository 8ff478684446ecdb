// The tag stage of the memory pipeline: lines of the operation under way, one after another.
#include <algorithm>
#include <bit>

#include "core/memory_pipeline.hpp"

namespace lockstep::core {
namespace {

unsigned count(SectorMask sectors) { return static_cast<unsigned>(std::popcount(sectors)); }

}  // namespace

void MemoryPipeline::look_up_lines(Cycle now) {
  if (tag_cycle_ != now) {
    tag_cycle_ = now;
    tags_used_ = 0;
  }
  for (; current_.next < lines_.count && tags_used_ < tags_per_cycle_; ++current_.next, ++tags_used_) {
    const bool waited = current_.blocked != Blocked::kNo;
    if (!look_up(now, lines_.line[current_.next])) {
      if (!waited) current_.blocked_since = now;
      return set_memory_free(now);
    }
    if (waited) backpressure_cycles_ += now - current_.blocked_since;
    current_.blocked = Blocked::kNo;
  }
  if (current_.next == lines_.count) finish_lines(now);
  set_memory_free(now);
}

bool MemoryPipeline::look_up(Cycle now, const LineAccess& access) {
  if (current_.next >= current_.untranslated && !needs_no_translation(access.line)) {
    bool parked = false;
    if (!translate(now, access, parked) || parked) return parked;
  }
  switch (current_.kind) {
    case LineKind::kCachedLoad:
      return load_line(now, access);
    case LineKind::kStore:
      return store_line(now, access);
    default:
      return direct_line(now, access);
  }
}

bool MemoryPipeline::load_line(Cycle now, const LineAccess& access) {
  const std::uint32_t place = l1_.find(access.line);
  const SectorMask valid = place == L1Cache::kNone ? SectorMask{0} : l1_.sectors(place);
  const auto rest = static_cast<SectorMask>(access.sectors & ~valid);
  SectorMask missing = 0;
  bool line_there = place != L1Cache::kNone;
  if (rest) {
    std::uint16_t m = mshrs_.find(access.line);
    line_there = line_there || m != L1Mshrs::kNone;
    missing = m == L1Mshrs::kNone ? rest : static_cast<SectorMask>(rest & ~mshrs_.pending(m));
    if (m == L1Mshrs::kNone && mshrs_.full()) {
      current_.blocked = Blocked::kTable;
      return false;
    }
    if (!room_for_request(missing != 0)) return false;
    take_entry();
    if (m == L1Mshrs::kNone) m = mshrs_.take(access.line);
    if (missing) send_line(now, access.line, missing, m, icnt::AccessKind::kLoad);
    mshrs_.wait(m, rest, missing, current_.entry);
    pending_[current_.entry].sectors += count(rest);
  }
  if (place != L1Cache::kNone) l1_.touch(place);

  stats::SmCounters& c = counters_[current_.kernel];
  book(c, true, count(access.sectors & valid), count(missing), count(rest) - count(missing), line_there);
  c.l1_load_sectors_sent += count(missing);
  return true;
}

bool MemoryPipeline::store_line(Cycle now, const LineAccess& access) {
  if (!room_for_request(true)) return false;
  take_entry();
  send_line(now, access.line, access.sectors, current_.entry, icnt::AccessKind::kStore);
  pending_[current_.entry].sectors += count(access.sectors);

  const std::uint32_t place = l1_.find(access.line);
  const SectorMask valid = place == L1Cache::kNone ? SectorMask{0} : l1_.sectors(place);
  if (place != L1Cache::kNone) l1_.touch(place);
  if (allocate_on_store_) {
    SectorMask whole = 0;
    for (unsigned s = 0; s < kSectorsPerLine; ++s)
      if (lines_.bytes[current_.next][s] == 0xffffffffu) whole = static_cast<SectorMask>(whole | 1u << s);
    if (const std::uint16_t m = mshrs_.find(access.line); m != L1Mshrs::kNone)
      whole = static_cast<SectorMask>(whole & ~mshrs_.pending(m));
    if (whole & ~valid) l1_.fill(access.line, whole);
  }

  stats::SmCounters& c = counters_[current_.kernel];
  book(c, false, count(access.sectors & valid), count(static_cast<SectorMask>(access.sectors & ~valid)), 0,
       place != L1Cache::kNone || mshrs_.find(access.line) != L1Mshrs::kNone);
  c.l1_store_sectors_sent += count(access.sectors);
  return true;
}

/// Served at L2: loads that bypass the L1, atomics, reductions.
bool MemoryPipeline::direct_line(Cycle now, const LineAccess& access) {
  if (!room_for_request(true)) return false;
  take_entry();
  const bool load = current_.kind == LineKind::kDirectLoad;
  const auto kind = load                                    ? icnt::AccessKind::kLoad
                    : current_.kind == LineKind::kReduction ? icnt::AccessKind::kReduction
                                                            : icnt::AccessKind::kAtomic;
  send_line(now, access.line, access.sectors, current_.entry | (load ? kDirectTag : 0u), kind);
  pending_[current_.entry].sectors += count(access.sectors);
  const std::uint32_t place = l1_.find(access.line);
  const bool line_there = place != L1Cache::kNone || mshrs_.find(access.line) != L1Mshrs::kNone;
  if (place != L1Cache::kNone) l1_.drop(place, access.sectors);

  stats::SmCounters& c = counters_[current_.kernel];
  const unsigned sectors = count(access.sectors);
  book(c, load, 0, sectors, 0, line_there);
  (load ? c.l1_load_sectors_sent : c.l1_atomic_sectors_sent) += sectors;
  if (!load) c.l1_atomic_line_misses += !line_there;
  return true;
}

void MemoryPipeline::book(stats::SmCounters& c, bool read, unsigned hits, unsigned misses, unsigned merges,
                          bool line_there) const {
  ++c.l1.requests;
  stats::book_lookup(c.l1, read, hits, misses, merges, line_there);
  if (current_.local) stats::book_local(c.l1_local, read, hits, misses, merges, line_there);
}

/// Whether the line may go on: a pending-table entry is there, and room in the port when a request is to be
/// sent.
bool MemoryPipeline::room_for_request(bool request) {
  if (current_.entry == LsuPending::kNone && pending_.full()) {
    current_.blocked = Blocked::kTable;
    return false;
  }
  if (request && port_.full()) {
    current_.blocked = Blocked::kPort;
    return false;
  }
  return true;
}

void MemoryPipeline::take_entry() {
  if (current_.entry != LsuPending::kNone) return;
  current_.entry = pending_.take();
  const bool store = current_.kind == LineKind::kStore || current_.kind == LineKind::kReduction;
  const Cycle after = kMissPath + hit_rest_ + current_.extra + current_.transfer;
  pending_[current_.entry] = {0, current_.handle, 0, static_cast<std::uint16_t>(after), store, true};
}

void MemoryPipeline::send_line(Cycle now, Address line, SectorMask sectors, std::uint32_t tag,
                               icnt::AccessKind kind) {
  icnt::Request request;
  request.line = line;
  request.tag = tag;
  request.kind = kind;
  request.sectors = sectors;
  request.kernel = current_.kernel;
  request.evict_first = current_.evict_first;
  request.local = current_.local;
  if (kind == icnt::AccessKind::kStore) request.bytes = lines_.bytes[current_.next];
  if (kind == icnt::AccessKind::kAtomic || kind == icnt::AccessKind::kReduction)
    request.operations = std::min<std::uint8_t>(lines_.line[current_.next].operations, 128);
  port_.send(now, request);
}

void MemoryPipeline::finish_lines(Cycle now) {
  current_.active = false;
  const Cycle ready = std::max(now, current_.last_wavefront) + hit_rest_ + current_.extra;
  if (current_.entry == LsuPending::kNone) {
    wheel_.add(now, ready, current_.handle);
    return;
  }
  LsuPending::Entry& entry = pending_[current_.entry];
  entry.issuing = false;
  entry.ready = std::max(entry.ready, ready);
  if (entry.sectors == 0) finish_entry(now, current_.entry);
}

}  // namespace lockstep::core
