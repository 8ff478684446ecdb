#include "core/l1_lookup.hpp"

#include <algorithm>

#include "util/bits.hpp"

namespace lockstep::core {

Blocked L1Lookup::look_up(Cycle now, LsuAccess& access, const LineAccess& line, const StoredBytes& bytes) {
  switch (access.kind) {
    case LineKind::kCachedLoad:
      return load(now, access, line);
    case LineKind::kStore:
      return store(now, access, line, bytes);
    default:
      return direct(now, access, line, bytes);
  }
}

/// Whether the line may go on: a pending-table entry is there, and room in the port when a request is to be
/// sent.
Blocked L1Lookup::room_for(const LsuAccess& access, bool request) const {
  if (!results_->has_room(access)) return Blocked::kTable;
  return request && port_->full() ? Blocked::kPort : Blocked::kNo;
}

Blocked L1Lookup::load(Cycle now, LsuAccess& access, const LineAccess& line) {
  const std::uint32_t place = cache_.find(line.line);
  const SectorMask valid = place == L1Cache::kNone ? SectorMask{0} : cache_.sectors(place);
  const auto rest = static_cast<SectorMask>(line.sectors & ~valid);
  SectorMask missing = 0;
  bool line_there = place != L1Cache::kNone;
  if (rest) {
    std::uint16_t m = mshrs_.find(line.line);
    line_there = line_there || m != L1Mshrs::kNone;
    missing = m == L1Mshrs::kNone ? rest : static_cast<SectorMask>(rest & ~mshrs_.pending(m));
    if (m == L1Mshrs::kNone && mshrs_.full()) return Blocked::kTable;
    if (const Blocked b = room_for(access, missing != 0); b != Blocked::kNo) return b;
    results_->take_entry(access);
    if (m == L1Mshrs::kNone) m = mshrs_.take(line.line);
    if (missing) {
      icnt::Request request = request_of(access, line.line, missing, m, icnt::AccessKind::kLoad);
      port_->send(now, request);
      if (allocate_on_miss_ && place == L1Cache::kNone) cache_.reserve(line.line);
    }
    mshrs_.wait(m, rest, missing, access.entry);
    results_->await(access.entry, bit_count(rest));
  }
  if (place != L1Cache::kNone) cache_.touch(place);

  book(access, true, bit_count(line.sectors & valid), bit_count(missing),
       bit_count(rest) - bit_count(missing), line_there);
  (*counters_)[access.kernel].l1_load_sectors_sent += bit_count(missing);
  return Blocked::kNo;
}

Blocked L1Lookup::store(Cycle now, LsuAccess& access, const LineAccess& line, const StoredBytes& bytes) {
  if (const Blocked b = room_for(access, true); b != Blocked::kNo) return b;
  results_->take_entry(access);
  icnt::Request request = request_of(access, line.line, line.sectors, access.entry, icnt::AccessKind::kStore);
  request.bytes = bytes;
  port_->send(now, request);
  results_->await(access.entry, bit_count(line.sectors));

  const std::uint32_t place = cache_.find(line.line);
  const SectorMask valid = place == L1Cache::kNone ? SectorMask{0} : cache_.sectors(place);
  if (place != L1Cache::kNone) cache_.touch(place);
  if (allocate_on_store_) write_whole_sectors(line, bytes, valid);

  book(access, false, bit_count(line.sectors & valid), bit_count(line.sectors & ~valid), 0,
       place != L1Cache::kNone || mshrs_.find(line.line) != L1Mshrs::kNone);
  (*counters_)[access.kernel].l1_store_sectors_sent += bit_count(line.sectors);
  return Blocked::kNo;
}

void L1Lookup::write_whole_sectors(const LineAccess& line, const StoredBytes& bytes, SectorMask valid) {
  SectorMask whole = 0;
  for (unsigned s = 0; s < kSectorsPerLine; ++s)
    if (bytes[s] == 0xffffffffu) whole = static_cast<SectorMask>(whole | 1u << s);
  if (const std::uint16_t m = mshrs_.find(line.line); m != L1Mshrs::kNone)
    whole = static_cast<SectorMask>(whole & ~mshrs_.pending(m));
  if (whole & ~valid) cache_.fill(line.line, whole);
}

/// Served at L2: loads that bypass the L1, atomics, reductions, prefetches.
Blocked L1Lookup::direct(Cycle now, LsuAccess& access, const LineAccess& line, const StoredBytes& bytes) {
  if (const Blocked b = room_for(access, true); b != Blocked::kNo) return b;
  results_->take_entry(access);
  if (access.kind == LineKind::kPrefetch) return prefetch(now, access, line), Blocked::kNo;
  const bool load = access.kind == LineKind::kDirectLoad;
  const auto kind = load                                  ? icnt::AccessKind::kLoad
                    : access.kind == LineKind::kReduction ? icnt::AccessKind::kReduction
                                                          : icnt::AccessKind::kAtomic;
  icnt::Request request =
      request_of(access, line.line, line.sectors, access.entry | (load ? kDirectTag : 0u), kind);
  if (!load) request.operations = std::min<std::uint8_t>(line.operations, 128);
  if (access.signals) request.bytes = bytes;
  port_->send(now, request);
  results_->await(access.entry, bit_count(line.sectors));
  const std::uint32_t place = cache_.find(line.line);
  const bool line_there = place != L1Cache::kNone || mshrs_.find(line.line) != L1Mshrs::kNone;
  if (place != L1Cache::kNone) cache_.drop(place, line.sectors);

  stats::SmCounters& c = (*counters_)[access.kernel];
  const unsigned sectors = bit_count(line.sectors);
  book(access, load, 0, sectors, 0, line_there);
  (load ? c.l1_load_sectors_sent : c.l1_atomic_sectors_sent) += sectors;
  if (!load) c.l1_atomic_line_misses += !line_there;
  return Blocked::kNo;
}

/// What the L2 does not keep is there at once.
void L1Lookup::prefetch(Cycle now, const LsuAccess& access, const LineAccess& line) {
  const unsigned sectors = bit_count(line.sectors);
  results_->await(access.entry, sectors);
  if (port_->is_peers(line.line)) return results_->sectors_back(now, access.entry, sectors);
  icnt::Request request =
      request_of(access, line.line, line.sectors, access.entry | kDirectTag, icnt::AccessKind::kPrefetch);
  port_->send(now, request);
  (*counters_)[access.kernel].l1_load_sectors_sent += sectors;
  if (profile_) profile_->add_line(access.handle, access.kernel, 0, sectors);
}

void L1Lookup::book(const LsuAccess& access, bool read, unsigned hits, unsigned misses, unsigned merges,
                    bool line_there) {
  stats::SmCounters& c = (*counters_)[access.kernel];
  ++c.l1.requests;
  stats::book_lookup(c.l1, read, hits, misses, merges, line_there);
  if (access.local) stats::book_local(c.l1_local, read, hits, misses, merges, line_there);
  if (!profile_) return;
  const unsigned sectors = hits + misses + merges;  // stores go on to the L2 whether they hit or not
  profile_->add_line(access.handle, access.kernel, sectors, read ? misses : sectors);
}

icnt::Request L1Lookup::request_of(const LsuAccess& access, Address line, SectorMask sectors,
                                   std::uint32_t tag, icnt::AccessKind kind) {
  icnt::Request request;
  request.line = line;
  request.tag = tag;
  request.kind = kind;
  request.sectors = sectors;
  request.kernel = access.kernel;
  access.l2.complete(request);
  request.local = access.local;
  request.signals = access.signals;
  return request;
}

void L1Lookup::receive(Cycle now, const icnt::Reply& reply) {
  const bool fill = reply.kind == icnt::AccessKind::kLoad && !(reply.tag & kDirectTag);
  if (!fill)
    return results_->sectors_back(now, static_cast<std::uint16_t>(reply.tag & ~kDirectTag),
                                  bit_count(reply.sectors));
  const Address line =
      mshrs_.fill(static_cast<std::uint16_t>(reply.tag), reply.sectors,
                  [&](std::uint16_t entry, unsigned n) { results_->sectors_back(now, entry, n); });
  allocate_on_miss_ ? cache_.arrive(line, reply.sectors) : cache_.fill(line, reply.sectors);
}

}  // namespace lockstep::core
