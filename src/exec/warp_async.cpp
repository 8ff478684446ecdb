// cp.async, cp.async.bulk, mbarrier, ldmatrix and stmatrix. Copies are complete when their instruction is.
#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/cta.hpp"
#include "exec/mbarrier.hpp"
#include "exec/warp.hpp"

namespace lockstep::exec {

namespace {

constexpr unsigned kRowBytes = 16;  // of an 8x8 matrix of 16-bit elements
constexpr unsigned kRows = 8;
constexpr unsigned kTurnsSuspended = 32;  // of a try_wait until it says that the phase is not complete

template <class F>
void for_lanes(LaneMask mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

/// 16 bytes of a bulk copy.
void copy_row(const CopyForm& form, std::byte* to, const std::byte* from) {
  if (!form.reduction) std::memmove(to, from, kRowBytes);
  for (unsigned i = 0; form.reduction && i < kRowBytes; i += form.element) {
    std::uint64_t old = 0, value = 0;
    std::memcpy(&old, to + i, form.element);
    std::memcpy(&value, from + i, form.element);
    value = form.reduction(old, value, value);
    std::memcpy(to + i, &value, form.element);
  }
}

}  // namespace

void Warp::copy_async(const Operation& op, LaneMask active) {
  const CopyForm& form = machine_->kernel.copies()[op.detail];
  const MemoryForm &from_form = machine_->kernel.memory()[form.from],
                   &to_form = machine_->kernel.memory()[form.to];
  Addresses from, to;
  addresses(from_form, active, from);
  addresses(to_form, active, to);
  if (record_) note(active, from);
  if (active == 0) return;
  Pointers target, source;
  (void)resolve(to_form, active, form.bytes, to, Use::kWrite, target);
  LaneMask reading = 0;
  for_lanes(active, [&](std::uint32_t l) {
    const bool ignored = form.ignore.exists() && (at(form.ignore)->lane[l] & 1) != 0;
    const bool empty = form.size.exists() && static_cast<std::uint32_t>(at(form.size)->lane[l]) == 0;
    if (!ignored && !empty) reading |= LaneMask{1} << l;
  });
  if (reading != 0) (void)resolve(from_form, reading, form.bytes, from, Use::kRead, source);
  for_lanes(active, [&](std::uint32_t l) {
    std::byte bytes[16] = {};
    if (reading >> l & 1) {
      const std::uint64_t size =
          form.size.exists() ? static_cast<std::uint32_t>(at(form.size)->lane[l]) : form.bytes;
      std::memcpy(bytes, source.lane[l], std::min<std::uint64_t>(size, form.bytes));
    }
    std::memcpy(target.lane[l], bytes, form.bytes);
  });
}

/// One lane's bulk copy, from 16-byte line to 16-byte line.
void Warp::copy_lines(const CopyForm& form, std::uint32_t l, Address to, Address from, std::uint64_t bytes) {
  const Reach to_reach = machine_->kernel.memory()[form.to].reach,
              from_reach = machine_->kernel.memory()[form.from].reach;
  for (std::uint64_t done = 0; done < bytes; done += kRowBytes) {
    const std::byte* const source = resolve_one(from_reach, l, kRowBytes, from + done);
    if (!source) fault(FaultKind::kIllegalAddress, LaneMask{1} << l, from + done, {});
    if (form.multimem) {
      const auto places = multimem_places(l, kRowBytes, to + done);
      for (unsigned i = 0; i < places.count; ++i)
        copy_row(form, reinterpret_cast<std::byte*>(places.at[i]), source);
      continue;
    }
    std::byte* const target = resolve_one(to_reach, l, kRowBytes, to + done);
    if (!target) fault(FaultKind::kIllegalAddress, LaneMask{1} << l, to + done, {});
    copy_row(form, target, source);
  }
}

void Warp::copy_bulk(const Operation& op, LaneMask active) {
  const CopyForm& form = machine_->kernel.copies()[op.detail];
  const auto& memory = machine_->kernel.memory();
  Addresses from, to, barrier{};
  addresses(memory[form.from], active, from);
  addresses(memory[form.to], active, to);
  if (form.mbarrier != ~0u) addresses(memory[form.mbarrier], active, barrier);
  if (record_ && active == 0) note(active);
  for_lanes(active, [&](std::uint32_t l) {
    const std::uint64_t bytes = static_cast<std::uint32_t>(at(form.size)->lane[l]);
    const LaneMask self = LaneMask{1} << l;
    if (((bytes | from.lane[l] | to.lane[l]) & (kRowBytes - 1)) != 0)
      fault(FaultKind::kMisalignedAddress, self, from.lane[l] & (kRowBytes - 1) ? from.lane[l] : to.lane[l],
            "addresses and size must be multiples of 16");
    std::uint32_t heard = 0;
    const auto deliver = [&](Address target, Address tell) {
      copy_lines(form, l, target, from.lane[l], bytes);
      if (form.mbarrier == ~0u) return;
      complete_bytes(form.mbarrier, l, tell, static_cast<std::uint32_t>(bytes), &heard);
    };
    each_target(form.multicast, l, to.lane[l], barrier.lane[l], deliver);
    if (!record_) return;
    runs_.clear();
    if (memory[form.from].reach == Reach::kGlobal) runs_.add(from.lane[l], bytes);
    if (memory[form.to].reach == Reach::kGlobal) runs_.add(to.lane[l], bytes);
    note_bulk(heard);
  });
}

/// The record of a bulk copy that has been executed (trace/bulk_runs.hpp). The mbarrier hears of the last
/// part.
void Warp::note_bulk(std::uint32_t mbarrier) {
  const auto& runs = runs_.runs();
  std::size_t next = 0;
  do {
    const std::size_t count = std::min<std::size_t>(runs.size() - next, trace::kBulkRunsPerRecord);
    const bool last = next + count == runs.size();
    Addresses words{};
    words.lane[0] = last ? mbarrier : 0;
    words.lane[1] = last && mbarrier != 0 ? 1 : 0;
    for (std::size_t i = 0; i < count; ++i) {
      const trace::BulkRunWords run = trace::pack(runs[next + i]);
      words.lane[2 * i + 2] = run.place;
      words.lane[2 * i + 3] = run.shape;
    }
    note(static_cast<LaneMask>((std::uint64_t{1} << (2 * count + 2)) - 1), words);
    next += count;
  } while (next < runs.size());
}

/// The record of an arrival or a test (trace/opcode_table.cpp): mbarrier 0 is none.
void Warp::note_events(LaneMask active, std::uint32_t mbarrier, std::uint32_t events) {
  note_line(active, mbarrier, events);
}

/// As update_mbarrier(), heeding ends of phases.
template <class Change>
std::uint64_t Warp::change_mbarrier(std::byte* where, Change&& change) {
  const std::uint64_t before = update_mbarrier(where, change);
  std::uint64_t after;
  std::memcpy(&after, where, sizeof after);
  if ((before ^ after) >> 63 != 0) cta_->phase_completed(where);
  return before;
}

/// Tells the mbarrier at `where` that bytes have come. `heard`: they are a bulk copy's, which is an event;
/// its number where it is the CTA's own.
void Warp::complete_bytes(std::uint32_t mbarrier, std::uint32_t l, Address where, std::uint32_t bytes,
                          std::uint32_t* heard) {
  std::byte* const object =
      resolve_one(machine_->kernel.memory()[mbarrier].reach, l, sizeof(std::uint64_t), where);
  if (!object) fault(FaultKind::kIllegalAddress, LaneMask{1} << l, where, "the mbarrier");
  if (record_ && heard)
    if (MbarrierEvents::Mbarrier* const own = cta_->mbarrier_events(object)) {
      ++own->events;
      *heard = own->number;
    }
  if (machine_->check) check_signal(machine_->kernel.memory()[mbarrier].reach, l, where);
  change_mbarrier(object, [&](Mbarrier& b) { b.complete(bytes); });
}

void Warp::mbarrier(const Operation& op, LaneMask active) {
  const MbarrierForm& form = machine_->kernel.mbarriers()[op.second];
  const MemoryForm& place = machine_->kernel.memory()[op.detail];
  const Slot result = op.destinations != 0 ? slots_[op.operands] : Slot::none();
  const auto value = [&](std::uint32_t l, std::uint64_t none) {
    return form.value.exists() ? at(form.value)->lane[l] : none;
  };
  if (form.kind == MbarrierForm::Kind::kPending) {
    if (record_) note(active);
    for_lanes(active, [&](std::uint32_t l) {
      if (result.exists()) at(result)->lane[l] = value(l, 0) & Mbarrier::kCountMask;
    });
    return;
  }
  Addresses a;
  addresses(place, active, a);
  using Kind = MbarrierForm::Kind;
  const bool tests = form.kind == Kind::kTest;
  const bool arrives = form.kind == Kind::kArrive || form.kind == Kind::kCopied;
  if (record_ && (active == 0 || !(tests || arrives))) note(active, a);
  if (active == 0) return;
  Pointers where;
  (void)resolve(place, active, 8, a, Use::kWrite, where);
  const auto first = std::countr_zero(active);
  if (record_ && arrives) {
    const auto events = static_cast<std::uint32_t>(std::popcount(active));
    MbarrierEvents::Mbarrier* const own = cta_->mbarrier_events(where.lane[first]);
    if (own) own->events += events;
    note_events(active, own ? own->number : 0, own ? events : 0);
  }
  if (!tests) ++machine_->watch.changes;
  LaneMask complete = 0;
  LaneSlots seen{};
  for_lanes(active, [&](std::uint32_t l) {
    seen.lane[l] = change_mbarrier(where.lane[l], [&](Mbarrier& b) { step_mbarrier(form, b, value(l, 1)); });
    const bool wanted = form.parity ? (value(l, 0) & 1) != 0 : value(l, 0) >> 63 != 0;
    if (seen.lane[l] >> 63 != wanted) complete |= LaneMask{1} << l;
  });
  if (form.suspends && complete == 0 && now_.suspended < kTurnsSuspended) {
    ++now_.suspended;
    suspends_ = true;
    return;
  }
  now_.suspended = 0;
  if (result.exists())
    for_lanes(active,
              [&](std::uint32_t l) { at(result)->lane[l] = tests ? complete >> l & 1 : seen.lane[l]; });
  if (!tests) return;
  if (machine_->check && complete != 0) check_wait(place.reach, complete, a);
  note_poll(active, a, seen, false);
  if (!record_) return;
  MbarrierEvents::Mbarrier* const own =
      complete == 0 ? nullptr : cta_->mbarrier_events(where.lane[std::countr_zero(complete)]);
  note_events(active, own ? own->number : 0, own ? own->completed : 0);
}

void Warp::step_mbarrier(const MbarrierForm& form, Mbarrier& b, std::uint64_t value) {
  const auto count = static_cast<std::uint32_t>(value);
  switch (form.kind) {
    case MbarrierForm::Kind::kInit:
      return b.init(count);
    case MbarrierForm::Kind::kArrive:
      if (form.expects) b.expect(count);
      return b.arrive(form.expects ? 1 : count, form.drop);
    case MbarrierForm::Kind::kExpect:
      return b.expect(count);
    case MbarrierForm::Kind::kComplete:
      return b.complete(count);
    default:  // what is there after mbarrier.inval is left open: threads that still look see the phase
              // complete
      return;
  }
}

/// Lane 4 r + c of a matrix holds elements 2 c and 2 c + 1 of row r; transposed: of column r.
void Warp::matrix_move(const Operation& op, LaneMask active) {
  const MatrixForm& form = machine_->kernel.matrices()[op.second];
  if (form.fragment.registers != 0) return wmma_move(op, active);
  const MemoryForm& place = machine_->kernel.memory()[op.detail];
  Addresses a;
  addresses(place, active, a);
  const LaneMask rows = form.matrices == 4 ? kAllLanes : (LaneMask{1} << form.matrices * kRows) - 1;
  if (record_) note(active & rows, a);
  if (active == 0) return;
  if (active != kAllLanes)
    fault(FaultKind::kIllegalInstruction, active, 0, "all lanes of the warp must take part");
  Pointers row;
  (void)resolve(place, rows, kRowBytes, a, Use::kWrite, row);
  for (unsigned m = 0; m < form.matrices; ++m) {
    LaneSlots* const part = at(slots_[op.operands + m]);
    for (unsigned l = 0; l < kWarpSize && part; ++l)
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned along = 2 * (l % 4) + half, across = l / 4;
        std::byte* const element =
            row.lane[m * kRows + (form.transposed ? along : across)] + 2 * (form.transposed ? across : along);
        const unsigned shift = 16 * half;
        if (form.store) {
          const auto value = static_cast<std::uint16_t>(part->lane[l] >> shift);
          std::memcpy(element, &value, sizeof value);
        } else {
          std::uint16_t value;
          std::memcpy(&value, element, sizeof value);
          part->lane[l] = half == 0 ? value : part->lane[l] | std::uint64_t{value} << shift;
        }
      }
  }
}

}  // namespace lockstep::exec
