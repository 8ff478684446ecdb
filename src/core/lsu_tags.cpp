// The tag stage of the memory pipeline: lines of the operation under way, one after another.
#include <algorithm>

#include "core/memory_pipeline.hpp"
#include "util/bits.hpp"

namespace lockstep::core {
void MemoryPipeline::look_up_lines(Cycle now) {
  if (tag_cycle_ != now) {
    tag_cycle_ = now;
    tags_used_ = 0;
  }
  Access& access = current_.access;
  for (; current_.next < lines_.count && tags_used_ < tags_per_cycle_; ++current_.next, ++tags_used_) {
    const bool waited = access.blocked != Blocked::kNo;
    if (!look_up_next(now)) {
      if (!waited) current_.blocked_since = now;
      return set_memory_free(now);
    }
    if (waited) backpressure_cycles_ += now - current_.blocked_since;
    access.blocked = Blocked::kNo;
  }
  if (current_.next == lines_.count) finish_lines(now);
  set_memory_free(now);
}

bool MemoryPipeline::look_up_next(Cycle now) {
  const LineAccess& line = lines_.line[current_.next];
  if (current_.next >= current_.untranslated && !needs_no_translation(line.line)) {
    const Translation translation = translate(now, line);
    if (translation != Translation::kKnown) return translation == Translation::kParked;
  }
  return look_up(now, current_.access, line, lines_.bytes[current_.next]);
}

/// `bytes`: of a store, and of what signals.
bool MemoryPipeline::look_up(Cycle now, Access& access, const LineAccess& line, const StoredBytes& bytes) {
  switch (access.kind) {
    case LineKind::kCachedLoad:
      return load_line(now, access, line);
    case LineKind::kStore:
      return store_line(now, access, line, bytes);
    default:
      return direct_line(now, access, line, bytes);
  }
}

bool MemoryPipeline::load_line(Cycle now, Access& access, const LineAccess& line) {
  const std::uint32_t place = l1_.find(line.line);
  const SectorMask valid = place == L1Cache::kNone ? SectorMask{0} : l1_.sectors(place);
  const auto rest = static_cast<SectorMask>(line.sectors & ~valid);
  SectorMask missing = 0;
  bool line_there = place != L1Cache::kNone;
  if (rest) {
    std::uint16_t m = mshrs_.find(line.line);
    line_there = line_there || m != L1Mshrs::kNone;
    missing = m == L1Mshrs::kNone ? rest : static_cast<SectorMask>(rest & ~mshrs_.pending(m));
    if (m == L1Mshrs::kNone && mshrs_.full()) {
      access.blocked = Blocked::kTable;
      return false;
    }
    if (!room_for_request(access, missing != 0)) return false;
    take_entry(access);
    if (m == L1Mshrs::kNone) m = mshrs_.take(line.line);
    if (missing) {
      icnt::Request request = request_of(access, line.line, missing, m, icnt::AccessKind::kLoad);
      port_.send(now, request);
    }
    mshrs_.wait(m, rest, missing, access.entry);
    pending_[access.entry].sectors += bit_count(rest);
  }
  if (place != L1Cache::kNone) l1_.touch(place);

  stats::SmCounters& c = counters_[access.kernel];
  book(access, true, bit_count(line.sectors & valid), bit_count(missing),
       bit_count(rest) - bit_count(missing), line_there);
  c.l1_load_sectors_sent += bit_count(missing);
  return true;
}

bool MemoryPipeline::store_line(Cycle now, Access& access, const LineAccess& line, const StoredBytes& bytes) {
  if (!room_for_request(access, true)) return false;
  take_entry(access);
  icnt::Request request = request_of(access, line.line, line.sectors, access.entry, icnt::AccessKind::kStore);
  request.bytes = bytes;
  port_.send(now, request);
  pending_[access.entry].sectors += bit_count(line.sectors);

  const std::uint32_t place = l1_.find(line.line);
  const SectorMask valid = place == L1Cache::kNone ? SectorMask{0} : l1_.sectors(place);
  if (place != L1Cache::kNone) l1_.touch(place);
  if (allocate_on_store_) {
    SectorMask whole = 0;
    for (unsigned s = 0; s < kSectorsPerLine; ++s)
      if (bytes[s] == 0xffffffffu) whole = static_cast<SectorMask>(whole | 1u << s);
    if (const std::uint16_t m = mshrs_.find(line.line); m != L1Mshrs::kNone)
      whole = static_cast<SectorMask>(whole & ~mshrs_.pending(m));
    if (whole & ~valid) l1_.fill(line.line, whole);
  }

  stats::SmCounters& c = counters_[access.kernel];
  book(access, false, bit_count(line.sectors & valid), bit_count(line.sectors & ~valid), 0,
       place != L1Cache::kNone || mshrs_.find(line.line) != L1Mshrs::kNone);
  c.l1_store_sectors_sent += bit_count(line.sectors);
  return true;
}

/// Served at L2: loads that bypass the L1, atomics, reductions.
bool MemoryPipeline::direct_line(Cycle now, Access& access, const LineAccess& line,
                                 const StoredBytes& bytes) {
  if (!room_for_request(access, true)) return false;
  take_entry(access);
  const bool load = access.kind == LineKind::kDirectLoad;
  const auto kind = load                                  ? icnt::AccessKind::kLoad
                    : access.kind == LineKind::kReduction ? icnt::AccessKind::kReduction
                                                          : icnt::AccessKind::kAtomic;
  icnt::Request request =
      request_of(access, line.line, line.sectors, access.entry | (load ? kDirectTag : 0u), kind);
  if (!load) request.operations = std::min<std::uint8_t>(line.operations, 128);
  if (access.signals) request.bytes = bytes;
  port_.send(now, request);
  pending_[access.entry].sectors += bit_count(line.sectors);
  const std::uint32_t place = l1_.find(line.line);
  const bool line_there = place != L1Cache::kNone || mshrs_.find(line.line) != L1Mshrs::kNone;
  if (place != L1Cache::kNone) l1_.drop(place, line.sectors);

  stats::SmCounters& c = counters_[access.kernel];
  const unsigned sectors = bit_count(line.sectors);
  book(access, load, 0, sectors, 0, line_there);
  (load ? c.l1_load_sectors_sent : c.l1_atomic_sectors_sent) += sectors;
  if (!load) c.l1_atomic_line_misses += !line_there;
  return true;
}

/// A look-up of a line in the L1.
void MemoryPipeline::book(const Access& access, bool read, unsigned hits, unsigned misses, unsigned merges,
                          bool line_there) {
  stats::SmCounters& c = counters_[access.kernel];
  ++c.l1.requests;
  stats::book_lookup(c.l1, read, hits, misses, merges, line_there);
  if (access.local) stats::book_local(c.l1_local, read, hits, misses, merges, line_there);
  if (!profile_) return;
  const unsigned sectors = hits + misses + merges;  // stores go on to the L2 whether they hit or not
  profile_->add_line(access.handle, access.kernel, sectors, read ? misses : sectors);
}

/// Whether the line may go on: a pending-table entry is there, and room in the port when a request is to be
/// sent.
bool MemoryPipeline::room_for_request(Access& access, bool request) const {
  if (access.entry == LsuPending::kNone && pending_.full()) {
    access.blocked = Blocked::kTable;
    return false;
  }
  if (request && port_.full()) {
    access.blocked = Blocked::kPort;
    return false;
  }
  return true;
}

void MemoryPipeline::take_entry(Access& access) {
  if (access.entry != LsuPending::kNone) return;
  access.entry = pending_.take();
  const bool store = access.kind == LineKind::kStore || access.kind == LineKind::kReduction;
  const Cycle after = kMissPath + hit_rest_ + access.extra + access.transfer;
  pending_[access.entry] = {0, access.handle, 0, static_cast<std::uint16_t>(after), store, true};
}

icnt::Request MemoryPipeline::request_of(const Access& access, Address line, SectorMask sectors,
                                         std::uint32_t tag, icnt::AccessKind kind) {
  icnt::Request request;
  request.line = line;
  request.tag = tag;
  request.kind = kind;
  request.sectors = sectors;
  request.kernel = access.kernel;
  request.evict_first = access.evict_first;
  request.local = access.local;
  request.signals = access.signals;
  return request;
}

void MemoryPipeline::finish_lines(Cycle now) {
  current_.active = false;
  const Access& access = current_.access;
  const Cycle ready = std::max(now, current_.last_wavefront) + hit_rest_ + access.extra;
  if (access.entry == LsuPending::kNone) {
    wheel_.add(now, ready, access.handle);
    return;
  }
  LsuPending::Entry& entry = pending_[access.entry];
  entry.issuing = false;
  entry.ready = std::max(entry.ready, ready);
  if (entry.sectors == 0) finish_entry(now, access.entry);
}

}  // namespace lockstep::core
