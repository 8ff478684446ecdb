#include "exec/warp_mbarrier.hpp"

#include <bit>
#include <cstring>

#include "exec/mbarrier.hpp"
#include "exec/warp_access.hpp"
#include "exec/warp_check.hpp"
#include "exec/warp_poll.hpp"
#include "trace/mbarrier_words.hpp"

namespace lockstep::exec {

namespace {

constexpr unsigned kTurnsSuspended = 32;  // of a try_wait until it says that the phase is not complete

/// The record of an arrival or a test (trace/opcode_table.cpp): mbarrier 0 means none.
void note_events(WarpState& warp, LaneMask active, std::uint32_t mbarrier, std::uint32_t events) {
  warp.note_line(active, mbarrier, events);
}

/// As update_mbarrier(), and detects the end of a phase.
template <class Change>
std::uint64_t change_mbarrier(WarpState& warp, std::byte* where, Change&& change) {
  const std::uint64_t before = update_mbarrier(where, change);
  std::uint64_t after;
  std::memcpy(&after, where, sizeof after);
  if ((before ^ after) >> 63 != 0) warp.cta->phase_completed(where);
  return before;
}

void step_mbarrier(const MbarrierForm& form, Mbarrier& b, std::uint64_t value) {
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

/// mbarrier.pending_count: of a state, without the object.
void count_pending(WarpState& warp, const MbarrierForm& form, OperandRef result, LaneMask active) {
  if (warp.record) warp.note(active);
  if (!result.exists()) return;
  for_lanes(active, [&](int l) {
    const std::uint64_t state = form.value.exists() ? warp.at(form.value)->lane[l] : 0;
    warp.at(result)->lane[l] = state & Mbarrier::kCountMask;
  });
}

/// The record of an arrival by each lane at an mbarrier of its cluster (trace/mbarrier_words.hpp).
void note_arrivals_in_cluster(WarpState& warp, LaneMask active, const Pointers& where) {
  Addresses words{};
  const std::uint32_t first = static_cast<std::uint32_t>(std::countr_zero(active));
  bool equal = true;
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
    const CtaState::Place place = warp.cta->mbarrier_at(where.lane[l]);
    words.lane[l] = 0;
    if (place.events) {
      ++place.events->events;
      words.lane[l] = trace::signal_word(place.events->number, place.own ? 0 : 1u << place.rank);
    }
    equal &= words.lane[l] == words.lane[first];
  });
  if (equal)
    return warp.note_line(active, words.lane[first], static_cast<std::uint64_t>(std::popcount(active)));
  for_lanes(active, [&](int l) { words.lane[l] |= trace::kSignalByLane; });
  warp.note(active, words);
}

/// The record of an arrival by each lane at `where`; where there are no clusters at the first lane's
/// mbarrier.
void note_arrivals(WarpState& warp, LaneMask active, const Pointers& where) {
  if (warp.cta->in_cluster()) return note_arrivals_in_cluster(warp, active, where);
  const auto events = static_cast<std::uint32_t>(std::popcount(active));
  MbarrierEvents::Mbarrier* const own = warp.cta->mbarrier_at(where.lane[std::countr_zero(active)]).events;
  if (own) own->events += events;
  note_events(warp, active, own ? own->number : 0, own ? events : 0);
}

/// The record of a test. `where`: an mbarrier whose phase it found complete, or nullptr.
void note_test(WarpState& warp, LaneMask active, const std::byte* where) {
  if (!where) return note_events(warp, active, 0, 0);
  const CtaState::Place place = warp.cta->mbarrier_at(where);
  const bool own = place.own && place.events;
  note_events(warp, active, own ? place.events->number : 0, own ? place.events->completed : 0);
}

/// The record before says where st.async or red.async write; it gets the numbers of the mbarriers, too.
void note_async(WarpState& warp, std::uint32_t mbarrier, LaneMask active, const Addresses& where) {
  trace::Record record = warp.record->records.back();
  auto& all = warp.record->words;
  Addresses words{};
  trace::expand_addresses(record.form(), record.mask,
                          all.data() + all.size() - trace::address_words(record.form(), record.mask),
                          words.lane);
  all.resize(all.size() - trace::address_words(record.form(), record.mask));
  warp.record->records.pop_back();
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
    std::byte* const object = resolve_one(warp, warp.machine->kernel.memory()[mbarrier].state_space, l,
                                          sizeof(std::uint64_t), where.lane[l]);
    if (!object) return;  // a fault soon
    const CtaState::Place place = warp.cta->mbarrier_at(object);
    if (!place.events) return;
    ++place.events->events;
    words.lane[l] |= std::uint64_t{place.events->number} << trace::kSignalTargetShift;
  });
  warp.note(active, words);
}

}  // namespace

void complete_bytes(WarpState& warp, std::uint32_t mbarrier, std::uint32_t l, Address where,
                    std::uint32_t bytes, Signalled* signalled) {
  std::byte* const object =
      resolve_one(warp, warp.machine->kernel.memory()[mbarrier].state_space, l, sizeof(std::uint64_t), where);
  if (!object) warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << l, where, "the mbarrier");
  if (warp.record && signalled) {
    const CtaState::Place place = warp.cta->mbarrier_at(object);
    if (place.events) {
      ++place.events->events;
      signalled->number = place.events->number;
      if (warp.cta->in_cluster()) signalled->ranks |= 1u << place.rank;
    }
  }
  if (warp.machine->check) check_signal(warp, warp.machine->kernel.memory()[mbarrier].state_space, l, where);
  change_mbarrier(warp, object, [&](Mbarrier& b) { b.complete(bytes); });
}

void complete_bytes_of_lanes(WarpState& warp, std::uint32_t mbarrier, LaneMask active, std::uint32_t bytes) {
  Addresses where;
  find_addresses(warp, warp.machine->kernel.memory()[mbarrier], where);
  if (warp.record && warp.cta->in_cluster()) note_async(warp, mbarrier, active, where);
  for_lanes<std::uint32_t>(active,
                           [&](std::uint32_t l) { complete_bytes(warp, mbarrier, l, where.lane[l], bytes); });
}

bool execute_mbarrier(WarpState& warp, const Operation& op, LaneMask active) {
  using Kind = MbarrierForm::Kind;
  const MbarrierForm& form = warp.machine->kernel.mbarriers()[op.second];
  const MemoryForm& place = warp.machine->kernel.memory()[op.detail];
  const OperandRef result = op.destinations != 0 ? warp.operands[op.operands] : OperandRef::none();
  const auto value = [&](std::uint32_t l, std::uint64_t none) {
    return form.value.exists() ? warp.at(form.value)->lane[l] : none;
  };
  if (form.kind == Kind::kPending) return count_pending(warp, form, result, active), false;
  Addresses a;
  find_addresses(warp, place, a);
  const bool tests = form.kind == Kind::kTest;
  const bool arrives = form.kind == Kind::kArrive || form.kind == Kind::kCopied;
  if (warp.record && (active == 0 || !(tests || arrives))) warp.note(active, a);
  if (active == 0) return false;
  Pointers where;
  (void)resolve(warp, place, active, 8, a, Use::kWrite, where);
  if (warp.record && arrives) note_arrivals(warp, active, where);
  if (!tests) ++warp.machine->watch.changes;
  LaneMask complete = 0;
  LaneValues seen{};
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
    seen.lane[l] =
        change_mbarrier(warp, where.lane[l], [&](Mbarrier& b) { step_mbarrier(form, b, value(l, 1)); });
    const bool wanted = form.parity ? (value(l, 0) & 1) != 0 : value(l, 0) >> 63 != 0;
    if (seen.lane[l] >> 63 != wanted) complete |= LaneMask{1} << l;
  });
  if (form.suspends && complete == 0 && warp.now.suspended < kTurnsSuspended) {
    ++warp.now.suspended;
    return true;
  }
  warp.now.suspended = 0;
  if (result.exists())
    for_lanes(active, [&](int l) { warp.at(result)->lane[l] = tests ? complete >> l & 1 : seen.lane[l]; });
  if (!tests) return false;
  if (warp.machine->check && complete != 0) check_wait(warp, place.state_space, complete, a);
  note_poll(warp, active, a, seen, false);
  if (warp.record) note_test(warp, active, complete != 0 ? where.lane[std::countr_zero(complete)] : nullptr);
  return false;
}

}  // namespace lockstep::exec
