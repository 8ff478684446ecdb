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
    warp.fetch_from = std::max(t, warp.not_before) + config.frontend.branch_latency;
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
    case IssueKind::kBranch:
      queue_branch(w, inst, t, delay);
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

/// The branch unit of the SM: the warp goes on once its instruction had its turn.
void Sm::State::queue_branch(unsigned w, const IssueInst& inst, Tick now, Tick delay) {
  const Tick start = std::max(now, branch_free);
  branch_free = start + inst.interval;
  scoreboard.write(w, inst, start + inst.latency + delay);
  warps[w].not_before = start;
  warps[w].delay = Stall::kBranch;
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
  op.prefetch = inst.prefetch;
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
  if (inst.op_class == trace::OpClass::kAsyncCopy || trace::writes(op.bulk)) {
    f.group = warp.open_group;
    ++warp.group[warp.open_group];
  }
  if (inst.synchronises) [[unlikely]]
    synchronise(w, inst, record, op);
}

// --- Completion ---

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
