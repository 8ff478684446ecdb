#include <algorithm>
#include <bit>
#include <utility>

#include "core/clock_log.hpp"
#include "core/sm_stages.hpp"
#include "trace/address_windows.hpp"
#include "trace/bulk_runs.hpp"
#include "trace/mbarrier_words.hpp"
#include "util/bits.hpp"

namespace lockstep::core {
namespace {

using config::Unit;
using stats::Stall;

constexpr unsigned unit_index(Unit u) { return static_cast<unsigned>(u); }

/// What a generic address means. A trace without windows (both bases 0) has global memory only.
trace::MemSpace resolve_generic(Address a, const trace::KernelHeader& h) {
  if (trace::in_shared_window(a, h)) return trace::MemSpace::kShared;
  return trace::in_local_window(a, h) ? trace::MemSpace::kLocal : trace::MemSpace::kGlobal;
}

/// A fence waits for the instruction's stores. The asynchronous proxy's are not among them: their groups are
/// waited for.
constexpr bool fences(const IssueInst& inst) { return inst.bulk == trace::BulkCopy::kNone; }

/// Bytes of global memory that a bulk copy's record names.
std::uint32_t bytes_of_copy(const trace::Record& record, const std::uint64_t* words) {
  std::array<Address, kWarpSize> each{};
  trace::expand_addresses(record.form(), record.mask, words, each.data());
  std::uint64_t bytes = 0;
  trace::each_bulk_run(each.data(), bit_count(record.mask),
                       [&](const trace::BulkRun& run) { bytes += std::uint64_t{run.rows} * run.bytes; });
  return static_cast<std::uint32_t>(bytes);
}

}  // namespace

// --- Issue ---

void Sm::State::issue_stage(unsigned s, Cycle now) {
  settle_subcore(s, now);
  const WarpSet16 set = issuable(s, now);
  if (set == 0) return;
  SubCore& sub = subcores[s];
  const unsigned position = pick(config.sm.scheduler, set, {sub.last_issued, &sub.age});
  sub.last_issued = static_cast<std::uint8_t>(position);
  sub.charged = now + 1;
  issue(16 * s + position, now);
  if (sub.wanted) (void)issuable(s, now + 1);  // often nothing can: then the next cycle need not look
}

/// Positions of the sub-core's ready warps whose unit or queue takes them at cycle `at`, this one or the
/// next. If there are none, the sub-core is held.
[[gnu::always_inline]] inline WarpSet16 Sm::State::issuable(unsigned s, Cycle at) {
  const SubCore& sub = subcores[s];
  const Tick t = local(at);
  if (sub.allocate_free > t) {
    hold(s, Stall::kRegisterPort, sub.allocate_free);
    return 0;
  }
  constexpr config::UnitMask kQueue = config::unit_bit(Unit::kMio);
  WarpSet16 set = 0;
  Tick first_free = kNoTick;
  for (const unsigned u : bits_of(sub.wanted & ~(mio.can_accept(s) ? 0u : kQueue))) {
    if (sub.unit_free[u] <= t) {
      set |= sub.ready_for[u];
    } else {
      first_free = std::min(first_free, sub.unit_free[u]);
    }
  }
  if (set == 0) hold(s, sub.wanted & kQueue ? Stall::kMioThrottle : Stall::kMathPipe, first_free);
  return set;
}

void Sm::State::issue(unsigned w, Cycle now) {
  Warp& warp = warps[w];
  SubCore& sub = subcores[w / 16];
  const trace::Record record = *warp.next;
  const IssueInst& inst = *warp.next_inst;
  const Tick t = local(now);

  stats::SmCounters& c = counters[warp.kernel];
  ++c.warp_instructions;
  // One lane issues a bulk copy: its mask is that of its words.
  c.lanes[static_cast<unsigned>(inst.unit_class)] +=
      inst.bulk != trace::BulkCopy::kNone ? 1u : bit_count(record.mask);
  if (!inst.known) ++c.unknown_instructions;

  const Tick delay = read_operands(sub, inst, w, t, c);
  take_unit(sub, inst, t, c);
  if (inst.kind == IssueKind::kFixed) [[likely]]
    scoreboard.write(w, inst, t + inst.latency + delay);
  else if (inst.kind == IssueKind::kMio)
    send_to_memory(w, inst, record, now);
  else
    execute_other(w, inst, record, now, delay);

  if (record.form() != trace::AddressForm::kNone)
    warp.words += trace::address_words(record.form(), record.mask);
  ++warp.next;
  warp.ring = static_cast<std::uint8_t>((warp.ring + 1) % kMaxIbuffer);
  --warp.buffered;
  if (warp.next == warp.end) return end_warp(w, now);
  if (warp.branch_unresolved && warp.buffered == 0) {  // the redirect is known now
    warp.branch_unresolved = false;
    warp.fetch_from = t + config.frontend.branch_latency;
    redirected |= warp_bit(w);
  }
  update_fetch(w, t);
  evaluate(w, t + 1);
}

/// What is neither arithmetic nor an access to memory; apart, so that these stay short.
[[gnu::noinline]] void Sm::State::execute_other(unsigned w, const IssueInst& inst,
                                                const trace::Record& record, Cycle now, Tick delay) {
  Warp& warp = warps[w];
  const Tick t = local(now);
  switch (inst.kind) {
    case IssueKind::kMio:
    case IssueKind::kFixed:
      break;  // issue() has them
    case IssueKind::kProduct:
      queue_product(w, inst, t, delay);
      break;
    case IssueKind::kProductWait:
      wait_for_products(warp, inst, t);
      break;
    case IssueKind::kClusterBarrier:
      if (record.mask != 0) cluster_barrier(w, inst, now);
      scoreboard.write(w, inst, t + inst.latency + delay);
      break;
    case IssueKind::kClock:
      if (ClockLog* log = kernels[warp.kernel].clocks) log->note(ctas[warp.cta].index, warp.number, now);
      scoreboard.write(w, inst, t + inst.latency + delay);
      break;
    case IssueKind::kBarrier:
      if (record.mask == 0) break;
      if (inst.barrier_id != trace::kCountedBarrier)
        barrier(w, inst, now);
      else if (record.form() == trace::AddressForm::kAffine)
        counted_barrier(w, inst, trace::unpack(trace::BarrierEventWords{warp.words[0], warp.words[1]}), now);
      break;
    case IssueKind::kFence:
      fence(warp, inst, t);
      break;
    case IssueKind::kDepBar:
      if (inst.barrier == trace::BarrierOp::kNone) {
        async_groups(warp, inst);
      } else {
        arrive_after_copies(warp, events_of(inst, record, warp.words), now);
      }
      break;
    case IssueKind::kSleep:
      warp.not_before = t + static_cast<Tick>(sim::cycles_of_ps(
                                static_cast<std::uint64_t>(std::clamp(inst.immediate, 1, 1'000'000)) * 1000,
                                config.clock.core_khz));
      warp.delay = Stall::kSleep;
      break;
  }
}

/// Books the register-file ports; returns by how many cycles the instruction is held up in the allocate
/// stage.
Tick Sm::State::read_operands(SubCore& sub, const IssueInst& inst, unsigned w, Tick now,
                              stats::SmCounters& counted) {
  // The cache holds the operands of the sub-core's last instruction, if that was the one before of this warp.
  const std::uint32_t age = sub.age[w % 16];
  const bool follows = inst.reused > 0 && sub.last_inst && sub.last_age == age &&
                       sub.last_inst->pc + sub.last_inst->bytes == inst.pc;
  const OperandReads& reads = follows ? inst.reads_reused : inst.reads;
  counted.rf_reads += reads.count;
  if (follows) counted.rfc_hits += inst.reused;

  const Tick in_time = now + 1 + inst.read_window;
  Tick last = in_time;
  for (unsigned b = 0; b < 2; ++b) {
    if (reads.bank_cycles[b] == 0) continue;
    sub.bank_free[b] = std::max(sub.bank_free[b], now + 1) + reads.bank_cycles[b];
    last = std::max(last, sub.bank_free[b]);
  }
  const Tick delay = last - in_time;
  if (delay > 0) {
    sub.allocate_free = now + 1 + delay;
    counted.rf_conflict_cycles += delay;
  }
  sub.last_age = age;
  sub.last_inst = &inst;
  return delay;
}

void Sm::State::take_unit(SubCore& sub, const IssueInst& inst, Tick now, stats::SmCounters& counted) {
  unsigned rest = inst.units;
  while (sub.unit_free[static_cast<unsigned>(std::countr_zero(rest))] > now) rest &= rest - 1;
  const auto unit = static_cast<unsigned>(std::countr_zero(rest));
  static_assert(
      stats::kPipes == kUnits && static_cast<unsigned>(stats::Pipe::kTensor) == unit_index(Unit::kTensor),
      "stats::Pipe has the order of config::Unit");
  counted.pipes[unit] += inst.interval;
  if (config.fp64_shared && unit == unit_index(Unit::kFp64)) {
    for (SubCore& each : subcores) each.unit_free[unit] = now + inst.interval;
  } else {
    sub.unit_free[unit] = now + inst.interval;
  }
}

/// A product of a warpgroup: the warp goes on while those before it are worked on. `delay`: of its operands.
[[gnu::noinline]] void Sm::State::queue_product(unsigned w, const IssueInst& inst, Tick now, Tick delay) {
  SubCore& sub = subcores[w / 16];
  const Tick start = std::max(now, sub.products_end);
  sub.products_end = start + inst.interval;
  sub.newest_product = static_cast<std::uint8_t>((sub.newest_product + 1) % kQueuedProducts);
  sub.product_starts[sub.newest_product] = start;
  const Tick oldest = sub.product_starts[(sub.newest_product + 1) % kQueuedProducts];
  sub.unit_free[unit_index(Unit::kTensor)] = std::max(now + 1, oldest);
  scoreboard.write(w, inst, start + inst.latency + delay);
  if (inst.closes_group) end_group(warps[w], start + inst.latency + delay);
}

/// Products end in their order.
void Sm::State::end_group(Warp& warp, Tick at) {
  warp.product_group = static_cast<std::uint8_t>((warp.product_group + 1) % kProductGroups);
  warp.product_groups[warp.product_group] = at;
}

/// WARPGROUP.DEPBAR: until at most `immediate` groups are under way. Where a trace does not say which product
/// ends a group, readers wait for the products' registers.
[[gnu::noinline]] void Sm::State::wait_for_products(Warp& warp, const IssueInst& inst, Tick now) {
  const auto allowed = static_cast<unsigned>(std::max(inst.immediate, 0));
  if (allowed >= kProductGroups) return;
  warp.not_before = std::max(
      now + 1, warp.product_groups[(warp.product_group + kProductGroups - allowed) % kProductGroups]);
  warp.delay = Stall::kDepBar;
}

void Sm::State::send_to_memory(unsigned w, const IssueInst& inst, const trace::Record& record, Cycle now) {
  Warp& warp = warps[w];
  if (record.mask == 0) return;  // predicated off for all lanes: an issue slot and nothing more
  std::uint32_t handle;
  if (free_handles.empty()) {
    handle = static_cast<std::uint32_t>(in_flight.size());
    in_flight.emplace_back();
  } else {
    handle = free_handles.back();
    free_handles.pop_back();
  }
  const trace::KernelHeader& header = *kernels[warp.kernel].header;
  MioOperation& op = mio.next(w / 16);
  op.handle = handle;
  op.subcore = static_cast<std::uint8_t>(w / 16);
  op.warp = static_cast<std::uint8_t>(w);
  op.kernel = warp.kernel;
  op.form = record.form();
  op.mask = record.mask;
  op.words = warp.words;
  const bool addressed = op.form != trace::AddressForm::kNone;
  // A memory instruction whose addresses the trace does not carry takes its slot and the time of a special
  // register.
  op.op_class = addressed || !inst.needs_addresses ? inst.op_class : trace::OpClass::kSpecialReg;
  op.space = inst.space == trace::MemSpace::kGeneric && addressed ? resolve_generic(*warp.words, header)
                                                                  : inst.space;
  op.access_bytes = inst.access_bytes;
  op.matrix = inst.matrix;
  op.bypass_l1 = inst.bypass_l1;
  if (inst.l2_policy != trace::kNoL2Policy || kernels[warp.kernel].l2.any) [[unlikely]]
    op.l2 = {&kernels[warp.kernel], inst.l2_policy};
  else
    op.l2 = {};
  op.bulk = addressed ? inst.bulk : trace::BulkCopy::kNone;
  op.signal = inst.signal;
  op.local_base = header.local_base;
  op.cta = warp.cta;
  op.ranks = kernels[warp.kernel].clustered && header.shared_ranks;
  op.multicast =
      op.ranks && op.bulk == trace::BulkCopy::kLoad && events_of(inst, record, warp.words).targets != 0;
  mio_next = std::min(mio_next, mio.push(now, w / 16));

  const bool stored = is_acknowledged(op);
  InFlight& f = in_flight[handle];
  f = {&inst,
       static_cast<std::uint8_t>(w),
       warp.cta,
       0xff,
       static_cast<std::uint8_t>(stored || op.multicast ? 3 : 2),
       subcores[w / 16].age[w % 16],
       {},
       op.multicast,
       0};
  scoreboard.write(w, inst,
                   inst.long_result && op.space != trace::MemSpace::kShared ? Scoreboard::kPendingLong
                                                                            : Scoreboard::kPendingShort);
  scoreboard.add_readers(w, inst);
  ++warp.results;
  ++warp.readers;
  if (stored) {
    warp.stores += fences(inst);
    ++ctas[warp.cta].stores;
  }
  if (inst.op_class == trace::OpClass::kAsyncCopy || (stored && !fences(inst))) {
    f.group = warp.open_group;
    ++warp.group[warp.open_group];
  }
  if (inst.synchronises) [[unlikely]]
    synchronise(w, inst, record, op);
}

/// What an operation waits for, or whom it signals, when it is done.
[[gnu::noinline]] void Sm::State::synchronise(unsigned w, const IssueInst& inst, const trace::Record& record,
                                              const MioOperation& op) {
  Warp& warp = warps[w];
  InFlight& f = in_flight[op.handle];
  if (inst.signal == trace::SignalOp::kAwaits) {
    ++warp.awaited;
    f.notifies = {kAwaitsSignals, 0};
    if (!awaits(warp, warp.next + 1)) warp.block = Block::kSignal;
    return;
  }
  const MbarrierEvents events = events_of(inst, record, warp.words);
  if (inst.barrier == trace::BarrierOp::kSync) return wait_for_mbarrier(warp, events);
  f.notifies = events;
  if (!op.ranks) return;
  if (op.bulk == trace::BulkCopy::kBetween) f.notifies = {};  // its last line does
  if (op.multicast) f.filled = bytes_of_copy(record, warp.words);
  if (events.mbarrier == kSignalsByLane) by_lane.push_back({op.handle, op.form, op.mask, op.words});
}

/// Is there a record, and does it wait for signals?
bool Sm::State::awaits(const Warp& warp, const trace::Record* record) {
  return record != warp.end && (*warp.table)[record->inst()].signal == trace::SignalOp::kAwaits;
}

void Sm::State::end_await(Warp& warp) {
  if (--warp.awaited == 0 && warp.block == Block::kSignal) warp.block = Block::kNone;
}

/// The events of a test, an arrival or a bulk copy whose record has them; none for other instructions.
MbarrierEvents Sm::State::events_of(const IssueInst& inst, const trace::Record& record,
                                    const std::uint64_t* words) {
  if (record.form() == trace::AddressForm::kNone) return {};
  std::array<Address, kWarpSize> said{};  // mbarrier, events
  if (inst.bulk != trace::BulkCopy::kNone) {
    trace::expand_addresses(record.form(), record.mask, words, said.data());
  } else if (inst.barrier != trace::BarrierOp::kNone &&
             (record.form() == trace::AddressForm::kAffine || (words[0] & trace::kSignalByLane) != 0)) {
    said = {words[0], words[1]};
  }
  const std::uint64_t word = said[0];
  if (inst.bulk == trace::BulkCopy::kNone && (word & trace::kSignalByLane) != 0)
    return {kSignalsByLane, 1, 0};
  if (trace::mbarrier_of(word) >= kMaxMbarriers) return {};  // no recording of ours
  return {trace::mbarrier_of(word), static_cast<std::uint32_t>(said[1]), trace::targets_of(word)};
}

/// A multicast's events in its own CTA.
void Sm::State::notify_own(const InFlight& f, Cycle now) {
  Cta& cta = ctas[f.cta];
  if ((f.notifies.targets >> cta.cluster_barrier.rank & 1) != 0) notify_mbarrier(cta, f.notifies, now);
}

/// Each lane's event goes to the mbarrier that its word names.
void Sm::State::signal_by_lane(const InFlight& f, std::uint32_t handle, Cycle now) {
  const auto found = std::find_if(by_lane.begin(), by_lane.end(),
                                  [&](const SignalsByLane& s) { return s.handle == handle; });
  if (found == by_lane.end()) return;
  std::array<Address, kWarpSize> words{};
  trace::expand_addresses(found->form, found->mask, found->words, words.data());
  for (const unsigned lane : bits_of(found->mask)) {
    const std::uint64_t word = words[lane] & ~trace::kSignalByLane;
    if (word != 0) signal(f.cta, {trace::mbarrier_of(word), 1, trace::targets_of(word)}, now);
  }
  *found = by_lane.back();
  by_lane.pop_back();
}

/// A fence lets the warp go on when its stores are acknowledged, and not before its own latency has passed.
void Sm::State::fence(Warp& warp, const IssueInst& inst, Tick now) {
  const config::SyncGroup& s = config.sync;
  const Tick latency = inst.fence == trace::FenceScope::kCta      ? s.membar_cta
                       : inst.fence == trace::FenceScope::kSystem ? s.membar_system
                                                                  : s.membar_gpu;
  warp.not_before = now + latency;
  warp.delay = Stall::kMemBar;
  if (warp.stores > 0) warp.block = Block::kFence;
}

/// LDGDEPBAR closes the group of async copies; DEPBAR waits until at most `immediate` closed groups are under
/// way.
void Sm::State::async_groups(Warp& warp, const IssueInst& inst) {
  if (inst.closes_group) {
    warp.open_group = static_cast<std::uint8_t>((warp.open_group + 1) % kMaxAsyncGroups);
    return;
  }
  warp.wait_groups = static_cast<std::uint16_t>(std::clamp(inst.immediate, 0, int{kMaxAsyncGroups}));
  if (!groups_done(warp)) warp.block = Block::kDepBar;
}

/// ARRIVES: when the warp's copies so far have ended.
void Sm::State::arrive_after_copies(Warp& warp, const MbarrierEvents& events, Cycle now) {
  if (events.mbarrier == 0) return;
  for (unsigned back = 0; back < kMaxAsyncGroups; ++back) {
    const unsigned g = (warp.open_group + kMaxAsyncGroups - back) % kMaxAsyncGroups;
    if (warp.group[g] == 0) continue;
    if (warp.notifies[g].mbarrier != 0) signal(warp.cta, warp.notifies[g], now);  // no more than one
    warp.notifies[g] = events;
    if (g == warp.open_group)
      warp.open_group = static_cast<std::uint8_t>((warp.open_group + 1) % kMaxAsyncGroups);
    return;
  }
  signal(warp.cta, events, now);
}

/// One of the group's copies has ended.
void Sm::State::end_copy(Warp& warp, unsigned group, Cycle now) {
  if (--warp.group[group] > 0) return;
  if (warp.block == Block::kDepBar && groups_done(warp)) warp.block = Block::kNone;
  if (warp.notifies[group].mbarrier != 0) signal(warp.cta, std::exchange(warp.notifies[group], {}), now);
}

bool Sm::State::groups_done(const Warp& warp) {
  for (unsigned back = warp.wait_groups + 1u; back < kMaxAsyncGroups; ++back)
    if (warp.group[(warp.open_group + kMaxAsyncGroups - back) % kMaxAsyncGroups] > 0) return false;
  return true;
}

// --- Completion ---

/// What waits for the result of an operation that synchronises.
[[gnu::noinline]] void Sm::State::notify(const InFlight& f, std::uint32_t handle, Cycle now) {
  if (f.notifies.mbarrier == kAwaitsSignals) return end_await(warps[f.warp]);
  if (f.notifies.mbarrier == kSignalsByLane) return signal_by_lane(f, handle, now);
  f.multicast ? notify_own(f, now) : signal(f.cta, f.notifies, now);
}

void Sm::State::handle_event(const MioEvent& event, Cycle now) {
  InFlight& f = in_flight[event.handle];
  const unsigned w = f.warp;
  Warp& warp = warps[w];
  const bool same_warp =
      warp.resident && subcores[w / 16].age[w % 16] == f.age;  // its slot may have been reused
  Cta& cta = ctas[f.cta];
  if (--f.owed == 0) free_handles.push_back(event.handle);
  switch (event.kind) {
    case MioEvent::Kind::kOperandsRead:
      scoreboard.release_readers(w, *f.inst);
      let_issue(w / 16);  // its queue has room
      --warp.readers;
      break;
    case MioEvent::Kind::kResult:
      // Results that come as events are there for all readers.
      scoreboard.write(w, *f.inst, local(now) - std::min(local(now), config.mio.operand_delay));
      --warp.results;
      if (f.group != 0xff) end_copy(warp, f.group, now);
      if (f.notifies.mbarrier != 0) [[unlikely]]
        notify(f, event.handle, now);
      break;
    case MioEvent::Kind::kDelivered:
      signal_others(f.cta, f.notifies, f.filled, now);
      return;
    case MioEvent::Kind::kAcknowledged:
      --cta.stores;
      if (same_warp && fences(*f.inst) && --warp.stores == 0 && warp.block == Block::kFence)
        warp.block = Block::kNone;
      if (cta.freed) return release_cta_slot_if_drained(cta, now);
      if (same_warp && warp.next == warp.end) return;  // its end waited for results, not for this
      break;
  }
  if (!same_warp) return;
  if (warp.next == warp.end) return free_warp_if_done(w, now);
  if (!(ready & warp_bit(w))) evaluate(w, local(now));
}

}  // namespace lockstep::core
