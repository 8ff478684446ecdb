#include "mem/slice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "mem/lookup_count.hpp"
#include "util/bits.hpp"

namespace lockstep::mem {

using icnt::AccessKind;

namespace {

constexpr std::uint32_t kLanesOfAtomicUnit = kSectorBytes / 4;  // 32-bit operations on one sector at a time

}  // namespace

Slice::Slice(const config::GpuConfig& config, icnt::Fabric& fabric, const AddressMap& map,
             Controller& controller, CounterTable& counters, std::uint32_t slice)
    : map_(&map),
      controller_(&controller),
      counters_(&counters),
      slice_(slice),
      index_(slice % config.l2.slices_per_partition),
      twin_(slice < fabric.numbering().slices() / 2 ? slice + fabric.numbering().slices() / 2
                                                    : slice - fabric.numbering().slices() / 2),
      latency_(config.l2.latency + 1),  // and the cycle in which the first sector is read
      bytes_per_cycle_(config.l2.slice_bytes_per_cycle),
      atomic_interval_(config.l2.atomic_interval),
      in_bytes_(config.icnt.slice_in_bytes),
      out_bytes_(config.icnt.slice_out_bytes),
      pipe_capacity_(config.l2.latency + 32),  // one request per cycle, and some that wait for their turn
      far_ways_(config.l2.ways / 2),  // the other half of the ways always serves the home's own lines
      far_mshrs_(config.l2.mshrs / 2),
      dirty_ways_(config.l2.dirty_ways < config.l2.ways ? config.l2.dirty_ways : 0),
      code_resident_(config.l2.code_resident),
      in_(*fabric.request, *fabric.request_credit, slice, fabric.slice_request_eject()),
      out_(*fabric.reply, *fabric.reply_credit, slice, fabric.slice_reply_port()),
      tags_(config.l2.slice_bytes, config.l2.ways, make_replacement(config.l2.replacement)),
      parked_(config.clock.core_khz, config.clock.l2_khz),
      mshrs_(config.l2.mshrs, config.l2.mshr_merges, config.l2.far_merges) {
  if (config.l2.halves > 1) far_.emplace(fabric, slice);
}

void Slice::gather(Cycle first) {
  const auto no_flits = [](const auto&) { return 0u; };
  const auto no_accept = [](const auto&) {};
  // What arrived while the slice slept still occupies its place in the queues.
  if (first > 0) in_.tick(first - 1, false, no_flits, no_accept);
  in_.gather(first);
  out_.gather(first);
  if (far_) {
    if (first > 0) {
      far_->in.tick(first - 1, false, no_flits, no_accept);
      far_->reply_in.tick(first - 1, false, no_flits, no_accept);
    }
    far_->in.gather(first);
    far_->reply_in.gather(first);
    far_->out.gather(first);
    far_->reply_out.gather(first);
  }
  next_ = std::min(next_, find_next(first == 0 ? 0 : first - 1));
  if (first == 0) next_ = 0;
}

void Slice::tick(Cycle now) {
  if (far_) accept_far_replies(now);  // 1. data and acknowledgements of the other half
  accept_requests(now);               // 2. ejection ports
  look_up(now);                       // 3. tags, lines in flight, DRAM requests
  move_data(now);                     // 4. data array
  send_replies(now);                  // 5. injection ports
  next_ = find_next(now);
}

void Slice::accept_requests(Cycle now) {
  const auto flits = [this](const icnt::Request& r) { return request_flits(r, in_bytes_); };
  const auto into = [](Latch& latch) {
    return [&latch](const icnt::Request& r) { latch = {r, true, Stall::kNone}; };
  };
  in_.tick(now, !latches_[kNear].full, flits, into(latches_[kNear]));
  if (far_) far_->in.tick(now, !latches_[kFar].full, flits, into(latches_[kFar]));
}

/// One request per cycle. The port whose turn it is comes first; when its request cannot go on, the other's
/// may.
void Slice::look_up(Cycle now) {
  if (!held_.empty() && serve_held(now)) return;
  if (parked_.due() <= now && serve_parked(now)) return;
  for (const std::uint8_t origin : {turn_, static_cast<std::uint8_t>(turn_ ^ 1)}) {
    Latch& latch = latches_[origin];
    if (!latch.full || !serve(latch, static_cast<Origin>(origin), now)) continue;
    latch.full = false;
    latches_[origin ^ 1].stall = Stall::kNone;  // what it found may have changed
    turn_ = origin ^ 1;
    return;
  }
}

bool Slice::serve(Latch& latch, Origin origin, Cycle now) {
  if (pipe_full()) {
    latch.stall = Stall::kPipe;
    return false;
  }
  return locks_matter(latch.request) ? serve_locking(latch, origin, now) : serve_any(latch, origin, now);
}

bool Slice::serve_any(Latch& latch, Origin origin, Cycle now) {
  const icnt::Request& r = latch.request;
  tags_.note_resets(r.placing.resets);
  if (r.kind >= AccessKind::kAwait) return serve_special(latch, origin, now);
  if (r.kind == AccessKind::kDiscard) return serve_discard(r, origin, now);
  const bool far = origin == kNear && is_far(r.line);
  if (icnt::carries_data(r.kind)) {
    if (far) return forward(latch, now);
    if (r.signals) return serve_signal(latch, origin, now);
    if (r.kind == AccessKind::kCopy) return serve_copy(latch, origin, now);
    if (icnt::is_store(r.kind)) return serve_store(latch, origin, now);
  }
  return serve_read(latch, origin, far, now);
}

bool Slice::serve_read(Latch& latch, Origin origin, bool far, Cycle now) {
  const icnt::Request& r = latch.request;
  const std::uint32_t set = tags_.set_of(map_->local_line(r.line));
  std::optional<LineIndex> index = tags_.find(set, r.line);
  if (is_fetch(r.kind) && code_resident_ && !far && !index) {
    index = place_line(latch, set, false, now);
    if (!index) return false;
    tags_[*index].valid = r.sectors;
  }
  const SectorMask valid = index ? tags_[*index].valid : 0, pending = index ? tags_[*index].pending : 0;
  const auto hit = static_cast<SectorMask>(r.sectors & valid);
  const auto merged = static_cast<SectorMask>(r.sectors & pending & ~valid);
  const auto missed = static_cast<SectorMask>(r.sectors & ~(valid | pending));
  const bool line_there = index.has_value();

  if (merged | missed) {
    if (!await(latch, origin, far, index, set, merged, missed, now)) return false;
  } else {
    if (icnt::carries_data(r.kind) && !make_room_to_dirty(latch, index, set, now)) return false;
    tags_.use(*index, r.placing);
  }
  // What the other half is asked for is counted there.
  count_lookup(counters_->mem[r.kernel], r, origin == kNear,
               {hit, merged, far ? SectorMask{0} : missed, line_there});
  if (icnt::is_read(r.kind)) {
    if (hit) {
      if (origin == kFar) tags_[*index].copied = static_cast<SectorMask>(tags_[*index].copied | hit);
      reply(r, hit, origin, now);
    }
    if (r.kind == AccessKind::kEvict) drop(*index, r.kernel, now);
  } else if (r.kind == AccessKind::kPrefetch) {
    reply(r, r.sectors, origin, now);
  } else if (!(merged | missed)) {
    operate(r, *index, origin, now);
  }
  return true;
}

/// Enters a read or atomic that lacks sectors among the line's waiting requests, and fetches what is
/// not being fetched yet. Changes nothing unless all resources that it needs are free.
bool Slice::await(Latch& latch, Origin origin, bool far, std::optional<LineIndex>& index, std::uint32_t set,
                  SectorMask merged, SectorMask missed, Cycle now) {
  const icnt::Request& r = latch.request;
  const std::uint16_t mshr = index ? tags_[*index].mshr : kNoMshr;
  const bool none_left = mshrs_.full() || (far && far_in_flight_ >= far_mshrs_);
  // The SMs of a GPC share a cache of code and constants, so on hardware few of these requests meet here.
  const bool data = r.kind != AccessKind::kInstruction && r.kind != AccessKind::kConstant;
  if (mshr == kNoMshr ? none_left : !mshrs_.room_to_merge(mshr, far && data)) {
    latch.stall = Stall::kFill;
    return false;
  }
  if (far && missed && far_->out.full()) {
    latch.stall = Stall::kFarPort;
    return false;
  }
  if (index) tags_.use(*index, r.placing);
  if (!index) index = place_line(latch, set, far, now);
  if (!index) return false;
  if (mshr == kNoMshr) {
    tags_.set_mshr(*index, mshrs_.allocate(*index));
    if (far) ++far_in_flight_;
  }
  if (missed) fetch(r, *index, missed, now);
  if (r.kind == AccessKind::kPrefetch) return true;
  latch.request.missed = true;
  mshrs_.wait(tags_[*index].mshr, {r, static_cast<SectorMask>(merged | missed), origin == kFar});
  return true;
}

bool Slice::serve_store(Latch& latch, Origin origin, Cycle now) {
  const icnt::Request& r = latch.request;
  const std::uint32_t set = tags_.set_of(map_->local_line(r.line));
  std::optional<LineIndex> index = tags_.find(set, r.line);
  const bool line_there = index.has_value();
  // First, as a request that has taken a place must not be held up; what is written back now leaves clean.
  if (!make_room_to_dirty(latch, index, set, now)) return false;
  if (index) tags_.use(*index, r.placing);
  if (!index) index = place_line(latch, set, false, now);
  if (!index) return false;
  Line& line = tags_[*index];
  const auto there = static_cast<SectorMask>(r.sectors & (line.valid | line.pending | line.dirty_sectors()));
  for (unsigned s = 0; s < kSectorsPerLine; ++s) {
    if (!(r.sectors >> s & 1)) continue;
    tags_.mark_dirty(*index, s, r.bytes[s]);
    if (line.dirty[s] == kAllBytes) line.valid = static_cast<SectorMask>(line.valid | 1u << s);
  }
  count_lookup(counters_->mem[r.kernel], r, origin == kNear,
               {there, 0, static_cast<SectorMask>(r.sectors & ~there), line_there});
  reply(r, r.sectors, origin, now);
  if (origin == kNear) drop_copies(line, r.sectors, r.kernel, now);  // else written through on its way
  return true;
}

std::optional<LineIndex> Slice::place_line(Latch& latch, std::uint32_t set, bool far, Cycle now) {
  const icnt::Request& r = latch.request;
  if (!parked_.empty()) keep_awaited_lines(set);
  const std::optional<LineIndex> index = tags_.victim(set, far, far_ways_, r.placing);
  if (!index) {
    latch.stall = Stall::kFill;
    return std::nullopt;
  }
  if (tags_.in_use(*index) && !write_back(*index, r.kernel, now)) {
    latch.stall = Stall::kWrite;
    return std::nullopt;
  }
  tags_.insert(*index, r.line, far, r.placing);
  return index;
}

void Slice::fetch(const icnt::Request& r, LineIndex index, SectorMask missed, Cycle now) {
  Line& line = tags_[index];
  if (line.far) {
    icnt::Request ask = r;
    ask.tag = line.mshr;
    ask.reply_to = static_cast<std::uint16_t>(slice_);
    ask.sectors = missed;
    if (r.kind == AccessKind::kPrefetch) ask.kind = AccessKind::kLoad;
    far_->out.push(now, twin_, request_flits(ask, in_bytes_), ask);
    ++counters_->mem[r.kernel].far_requests;
    line.pending = static_cast<SectorMask>(line.pending | missed);
    return;
  }
  const DramPlace place = controller_->place(map_->local_line(r.line), index_);
  for (const SectorMask fetched :  // what is waited for first
       {controller_->whole_bursts(missed), controller_->whole_fetch(missed)}) {
    const auto sectors = static_cast<SectorMask>(fetched & ~(line.valid | line.pending));
    if (!sectors) continue;
    line.pending = static_cast<SectorMask>(line.pending | sectors);
    controller_->read(now, place, r.kernel, {static_cast<std::uint16_t>(index_), line.mshr, sectors});
  }
}

void Slice::fill(Cycle now, std::uint16_t mshr, SectorMask sectors) {
  const LineIndex index = mshrs_.index(mshr);
  Line& line = tags_[index];
  line.valid = static_cast<SectorMask>(line.valid | sectors);
  line.pending = static_cast<SectorMask>(line.pending & ~sectors);
  mshrs_.serve(mshr, sectors, [&](const icnt::Request& r, SectorMask got, bool complete, bool from_far) {
    const Origin origin = from_far ? kFar : kNear;
    if (icnt::is_read(r.kind)) {
      if (from_far) line.copied = static_cast<SectorMask>(line.copied | got);
      line.far ? pass_on(r, got, origin, now) : reply(r, got, origin, now);
    } else if (complete) {
      // A fill cannot wait: without room the set has one dirty line too many until its next write.
      if (!tags_.is_dirty(index))
        (void)write_back_excess(tags_.set_of(map_->local_line(r.line)), r.kernel, now);
      operate(r, index, origin, now);
    }
  });
  if (!line.pending) {
    mshrs_.release(mshr);
    tags_.set_mshr(index, kNoMshr);
    if (line.far) --far_in_flight_;
    if (line.leaving) tags_.remove(index);
  }
  next_ = std::min(next_, now);
}

void Slice::write_room(Cycle at) {
  for (const Latch& latch : latches_)
    if (latch.full && latch.stall == Stall::kWrite) next_ = std::min(next_, at);
}

/// The atomic unit takes a sector's worth of 32-bit operations every atomic_interval, one request after the
/// other.
void Slice::operate(const icnt::Request& r, LineIndex index, Origin origin, Cycle now) {
  for (unsigned s = 0; s < kSectorsPerLine; ++s)
    if (r.sectors >> s & 1) tags_.mark_dirty(index, s, kAllBytes);
  const std::uint32_t passes =
      std::max(bit_count(r.sectors), (r.operations + kLanesOfAtomicUnit - 1) / kLanesOfAtomicUnit);
  atomic_free_ = std::max(atomic_free_, now) + Cycle{passes} * atomic_interval_;
  atomic_pipe_.push(
      {atomic_free_ + latency_, {r.line, r.tag, r.kind, r.sectors, r.kernel}, r.reply_to, origin});
  drop_copies(tags_[index], r.sectors, r.kernel, now);
}

void Slice::reply(const icnt::Request& r, SectorMask sectors, Origin origin, Cycle now) {
  pipe_.push(
      {now + latency_, {r.line, r.tag, r.kind, sectors, r.kernel, r.again, r.missed}, r.reply_to, origin});
}

/// The queue whose head has been ready the longest.
const Ring<Slice::Outgoing>& Slice::first_out() const {
  const Ring<Outgoing>* first = &pipe_;
  for (const Ring<Outgoing>* other : {&atomic_pipe_, &passing_})
    if (!other->empty() && (first->empty() || other->front().ready < first->front().ready)) first = other;
  return *first;
}

bool Slice::can_leave(const Outgoing& item) const {
  return item.origin == kFar ? !far_->reply_out.full() : !out_.full();
}

/// The data array moves one request's sectors at a time: to the reply port, which the first sector reaches
/// while the others follow, or from the store that it acknowledges. A prefetch moves none.
void Slice::move_data(Cycle now) {
  const Ring<Outgoing>& from = first_out();
  if (from.empty() || from.front().ready > now || data_free_ > now || !can_leave(from.front())) return;
  const Outgoing item = from.front();
  (&from == &pipe_ ? pipe_ : &from == &passing_ ? passing_ : atomic_pipe_).pop();
  const unsigned moved = item.reply.kind == AccessKind::kPrefetch ? 0 : bit_count(item.reply.sectors);
  data_free_ = now + (moved * kSectorBytes + bytes_per_cycle_ - 1) / bytes_per_cycle_;
  push_reply(item, now);
}

void Slice::push_reply(const Outgoing& item, Cycle now) {
  const bool data = icnt::reply_carries_data(item.reply.kind);
  const std::uint32_t flits = icnt::Fabric::flits(data ? bit_count(item.reply.sectors) : 0, out_bytes_);
  if (item.origin == kFar) {
    far_->reply_out.push(now, item.to, flits, item.reply);
    return;
  }
  out_.push(now, item.to, flits, item.reply);
  waiting_kernels_.push(item.reply.kernel);
  if (item.reply.silent) return;
  stats::IcntCounters& c = counters_->icnt[item.reply.kernel];
  ++c.replies;
  c.flits += flits;
}

/// The cycles for which the first reply waited for a credit are its kernel's.
void Slice::send_replies(Cycle now) {
  if (!out_.empty()) {
    const std::uint32_t before = out_.room();
    out_.tick(now);
    if (const std::uint32_t left = out_.room() - before) {
      counters_->icnt[waiting_kernels_.front()].stall_cycles += out_.take_stall_cycles();
      for (std::uint32_t i = 0; i < left; ++i) waiting_kernels_.pop();
    }
  }
  if (far_) {
    far_->out.tick(now);
    far_->reply_out.tick(now);
  }
}

Cycle Slice::next_of(const Latch& latch, const icnt::EjectionPort<icnt::Request>& port, Cycle now) const {
  if (!latch.full) return port.next_event(now, true);
  if (latch.stall == Stall::kNone) return now + 1;
  if (latch.stall == Stall::kPipe && !pipe_full()) return now + 1;
  if (latch.stall == Stall::kFarPort && !far_->out.full()) return now + 1;
  return kNever;  // what it waits for is an event itself
}

Cycle Slice::find_next(Cycle now) const {
  Cycle next = next_of(latches_[kNear], in_, now);
  if (far_) {
    next = std::min(next, next_of(latches_[kFar], far_->in, now));
    next = std::min(next, far_->reply_in.next_event(now, true));
    next = std::min({next, far_->out.next_event(now), far_->reply_out.next_event(now)});
  }
  next = std::min(next, out_.next_event(now));
  const Ring<Outgoing>& pipe = first_out();
  if (!held_.empty() && any_held_may_go()) return now + 1;
  next = std::min(next, std::max(parked_.due(), now + 1));
  if (!pipe.empty() && can_leave(pipe.front()))
    next = std::min(next, std::max({pipe.front().ready, data_free_, now + 1}));
  return next;
}

bool Slice::quiescent() const {
  const auto home = [](const auto& port) {
    return port.empty() && port.credits_out() == port.credits_arriving();
  };
  if (latches_[kNear].full || latches_[kFar].full || mshrs_.in_use() > 0 || !held_.empty() ||
      !parked_.empty())
    return false;
  if (!pipe_.empty() || !atomic_pipe_.empty() || !passing_.empty() || in_.pending() > 0 || !home(out_))
    return false;
  return !far_ || (far_->in.pending() == 0 && far_->reply_in.pending() == 0 && home(far_->out) &&
                   home(far_->reply_out) && far_->free.size() == far_->forwarded.size());
}

}  // namespace lockstep::mem
